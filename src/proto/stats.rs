//! Counters of one connection, for users, tests and benches.
//!
//! Owns: the numbers. Does not know: what they are good for.

/// What a connection has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Streams that this end has opened.
    pub streams_opened: u64,
    /// Streams that the peer has opened.
    pub streams_accepted: u64,
    /// Streams that ended normally.
    pub streams_completed: u64,
    /// RST_STREAM frames received.
    pub resets_received: u64,
    /// RST_STREAM frames sent.
    pub resets_sent: u64,
    /// Streams refused because there were too many.
    pub streams_refused: u64,
    /// Reads that brought something.
    pub reads: u64,
    /// Bytes of these reads. Divide by their number for what a read brings on average.
    pub bytes_received: u64,
    /// Reads that were offered less than 8 KiB of space. There are none.
    pub reads_below_floor: u64,
    /// Frames received.
    pub frames_received: u64,
    /// Bytes of DATA received, padding apart.
    pub data_received: u64,
    /// DATA frames sent.
    pub data_frames_sent: u64,
    /// Bytes of DATA sent.
    pub data_sent: u64,
    /// Bytes of payload that were copied into a batch because they were few.
    pub data_copied: u64,
    /// Times that DATA had to stop because the connection's window was used up. A stream that is
    /// stopped by its own window is not counted.
    pub connection_window_stalls: u64,
    /// Times that a producer that waited for send room was granted some.
    pub room_grants: u64,
    /// Grants that the end of another stream made possible.
    pub resumed_by_end: u64,
    /// Turns of the connection's task.
    pub turns: u64,
    /// Turns that found nothing to read, to take from handles, or to write.
    pub idle_turns: u64,
    /// Turns after which the task slept although something could have been sent: it was on a list, the
    /// windows were open, and the I/O type had taken all that went before. There are none.
    pub stalled_turns: u64,
    /// Batches begun. Divide by this for what a batch holds on average.
    pub batches: u64,
    /// Bytes in all batches, frame heads included.
    pub bytes_sent: u64,
    /// Frames in all batches.
    pub frames_sent: u64,
    /// Calls that gave bytes to the I/O type. `bytes_sent` and `frames_sent` divided by this are what
    /// a call holds on average.
    pub writes: u64,
    /// Now: streams with a place in the table.
    pub streams_alive: usize,
    /// Now: streams that wait for a concurrency slot.
    pub waiting_to_open: usize,
    /// Now: streams with header blocks or trailers to send.
    pub waiting_for_heads: usize,
    /// Now: streams that wait for their turn to send DATA.
    pub waiting_for_turn: usize,
    /// Now: streams whose turn was cut short by the connection's window.
    pub waiting_for_credit: usize,
    /// Now: producers that wait for send room.
    pub waiting_for_room: usize,
    /// Bytes that `send_data` brought beyond what window, buffer and send room left for them at that
    /// moment: another thread may have taken room since `capacity` was asked. `send` brings none.
    pub sent_beyond_capacity: u64,
    /// Now: bytes of the send room that are in use.
    pub room_used: usize,
}

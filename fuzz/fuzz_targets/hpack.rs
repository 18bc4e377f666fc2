//! Header blocks, several in a row, against the `hpack` crate.
//!
//! Where both accept a block they must agree. We may be stricter: the other one takes paddings,
//! size updates in the middle and sizes above the limit that RFC 7541 forbids. It panics on some
//! input; then, and after a disagreement about what is lawful, the two tables differ and the
//! comparison ends.

#![no_main]

use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

use fairmux::fuzzing::BlockDecoder;
use libfuzzer_sys::fuzz_target;

static QUIET: Once = Once::new();

fuzz_target!(|blocks: Vec<&[u8]>| {
    // The panics of the other decoder are its own affair; ours still end the process.
    QUIET.call_once(|| panic::set_hook(Box::new(|_| {})));
    let ours = panic::catch_unwind(|| decode_all(&blocks));
    if let Err(payload) = ours {
        let text = payload.downcast_ref::<String>().cloned();
        eprintln!("panic: {}", text.unwrap_or_default());
        std::process::abort();
    }
});

fn decode_all(blocks: &[&[u8]]) {
    let mut ours = BlockDecoder::new();
    let mut theirs = Some(hpack::Decoder::new());
    for block in blocks {
        let fields = ours.decode(block, 1 << 20);
        let other = theirs.as_mut().and_then(|decoder| {
            let decode = AssertUnwindSafe(|| decoder.decode(block));
            panic::catch_unwind(decode).ok()
        });
        match (fields, other) {
            // Its static table cuts this name short: from here on the tables differ.
            (Ok(fields), _) if fields.iter().any(|(name, _)| name == "accept-charset") => {
                theirs = None;
            }
            (Ok(fields), Some(Ok(other))) => {
                let fields: Vec<(Vec<u8>, Vec<u8>)> = fields
                    .into_iter()
                    .map(|(name, value)| (name.to_vec(), value.to_vec()))
                    .collect();
                assert_eq!(fields, other, "two decoders of one block");
            }
            (Ok(_), Some(Err(error))) => panic!("only we accept {block:?}: {error:?}"),
            (Ok(_), None) => theirs = None,
            // A connection ends here.
            (Err(_), _) => return,
        }
    }
}

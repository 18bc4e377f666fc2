//! Which core does what: servers on the first, clients on the second, so that neither takes the
//! other's time. What is started inherits the core of who starts it.

#[derive(Clone, Copy, Debug)]
pub(crate) enum Core {
    Server = 0,
    Client = 1,
}

/// Moves this thread. On a machine with one core, or another system, all stay where they are.
pub(crate) fn pin(core: Core) {
    #[cfg(target_os = "linux")]
    {
        let mut set = rustix::thread::CpuSet::new();
        set.set(core as usize);
        // One core only: then both share it.
        let _ = rustix::thread::sched_setaffinity(None, &set);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = core;
}

use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex};

use super::*;

/// Takes nothing until it is let.
struct Gate {
    open: Option<Receiver<()>>,
    written: Arc<Mutex<String>>,
    entered: Sender<()>,
}

impl Write for Gate {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.entered.send(()).ok();
        if let Some(open) = self.open.take() {
            open.recv().ok();
        }
        let text = std::str::from_utf8(bytes).unwrap();
        self.written.lock().unwrap().push_str(text);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// H7, H8: a reader that is slow holds up nothing, and is told how many lines it lost.
#[test]
fn slow_reader_is_told_what_it_missed() {
    let (open, gate) = channel();
    let (entered, is_in) = channel();
    let written = Arc::new(Mutex::new(String::new()));
    let out = Gate {
        open: Some(gate),
        written: Arc::clone(&written),
        entered,
    };
    let mut feed = Feed::start(Box::new(out)).unwrap();
    let missed = |count: u64| format!("missed {count}");
    feed.line("first", missed);
    is_in.recv().unwrap();
    for _ in 0..MAX_WAITING + 7 {
        feed.line("more", missed);
    }
    open.send(()).unwrap();
    // Once another one was begun there is room again.
    is_in.recv().unwrap();
    is_in.recv().unwrap();
    is_in.recv().unwrap();
    feed.line("last", missed);
    feed.finish();
    let written = written.lock().unwrap();
    assert_eq!(written.lines().count(), 1 + MAX_WAITING + 2);
    assert!(written.ends_with("more\nmissed 7\nlast\n"));
}

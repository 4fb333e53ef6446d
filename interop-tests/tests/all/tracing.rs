//! The spans of preparing and running, as a subscriber sees them.

use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use tenferro::prelude::*;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

tenferro! {
    fn norm(x: f64[n]) -> f64 { sum(exp(x) * x) }
}

/// Writes down spans as they are entered and left.
#[derive(Clone, Default)]
struct Listener {
    next: Arc<AtomicU64>,
    names: Arc<Mutex<Vec<String>>>,
    heard: Arc<Mutex<Vec<String>>>,
}

/// A span with its only field: `run norm`.
struct Name(String);

impl Visit for Name {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        panic!("`{field}` is no text: {value:?}");
    }
    fn record_str(&mut self, _: &Field, value: &str) {
        self.0 = format!("{} {value}", self.0);
    }
}

impl Subscriber for Listener {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("tenferro")
    }
    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut name = Name(span.metadata().name().to_owned());
        span.record(&mut name);
        self.names.lock().unwrap().push(name.0);
        Id::from_u64(self.next.fetch_add(1, Ordering::Relaxed) + 1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &Event<'_>) {}
    fn enter(&self, span: &Id) {
        let name = self.names.lock().unwrap()[span.into_u64() as usize - 1].clone();
        self.heard.lock().unwrap().push(name);
    }
    fn exit(&self, _: &Id) {
        self.heard.lock().unwrap().push(".".to_owned());
    }
}

#[test]
fn preparing_and_running_are_spans() {
    let listener = Listener::default();
    let mut cpu = Session::cpu();
    let x = TypedTensor::from_vec_col_major([2], vec![0.5, 1.0]).unwrap();
    let heard = |cpu: &mut Session| {
        tracing::subscriber::with_default(listener.clone(), || norm.run(cpu, &x).unwrap());
        std::mem::take(&mut *listener.heard.lock().unwrap()).join(" ")
    };
    let run = "run norm command exp . command mul . command sum . .";
    assert_eq!(heard(&mut cpu), format!("prepare norm lower norm . lower norm . . {run}"));
    // What is prepared is not prepared again.
    assert_eq!(heard(&mut cpu), run);
}

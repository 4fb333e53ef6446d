//! The counters of the cache, by the example that prints them.

// Only its walk is used here, not its main.
#[allow(dead_code)]
#[path = "../../examples/prepared_cache.rs"]
mod example;

#[test]
fn the_example_counts_as_described() {
    let mut text = String::new();
    example::walk(&mut text).unwrap();
    let lines: Vec<&str> = text.lines().filter(|line| line.contains("entries=")).collect();
    let expected = [
        "[fresh] entries=0 hits=0 misses=0 preparations=0 negative_hits=0",
        "[after 1st prepare] entries=2 hits=0 misses=2 preparations=2 negative_hits=0",
        "[after 2 runs] entries=2 hits=0 misses=2 preparations=2 negative_hits=0",
        "[after 2nd prepare] entries=2 hits=2 misses=2 preparations=2 negative_hits=0",
        "[after other program] entries=2 hits=4 misses=2 preparations=2 negative_hits=0",
        "[n=3] entries=2 hits=0 misses=2 preparations=2 negative_hits=0",
        "[n=5] entries=2 hits=2 misses=2 preparations=2 negative_hits=0",
        "[n=1000] entries=2 hits=4 misses=2 preparations=2 negative_hits=0",
        "[2x3x4] entries=2 hits=0 misses=2 preparations=2 negative_hits=0",
        "[2x3x4] entries=2 hits=2 misses=2 preparations=2 negative_hits=0",
        "[5x3x4] entries=3 hits=3 misses=3 preparations=3 negative_hits=0",
        "[5x7x4] entries=4 hits=4 misses=4 preparations=4 negative_hits=0",
        "[prepare after reconfigure] entries=4 hits=0 misses=4 preparations=4 negative_hits=0",
    ];
    assert_eq!(lines, expected, "{text}");
}

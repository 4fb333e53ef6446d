//! Random numbers that are the same everywhere: xoshiro256++, seeded through SplitMix64.
//!
//! Blackman and Vigna, "Scrambled linear pseudorandom number generators" (2021).

/// A stream of random numbers.
pub(super) struct Random([u64; 4]);

impl Random {
    /// The stream of one of several independent tries with a seed.
    pub fn new(seed: u64, stream: u32) -> Self {
        let mut state = seed ^ u64::from(stream).wrapping_mul(0xd134_2543_de82_ef95);
        Self(std::array::from_fn(|_| {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        }))
    }

    pub fn bits(&mut self) -> u64 {
        let [a, b, c, d] = self.0;
        let result = a.wrapping_add(d).rotate_left(23).wrapping_add(a);
        let (c, d) = (c ^ a, d ^ b);
        self.0 = [a ^ d, b ^ c, c ^ (b << 17), d.rotate_left(45)];
        result
    }

    /// Uniform between 0 and 1, both left out.
    pub fn unit(&mut self) -> f64 {
        ((self.bits() >> 12) as f64 + 0.5) / (1u64 << 52) as f64
    }

    /// Uniform between two numbers.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Uniform in the logarithm between two positive numbers.
    pub fn log_between(&mut self, low: f64, high: f64) -> f64 {
        self.between(low.ln(), high.ln()).exp()
    }

    /// The standard Gumbel distribution: the largest of scores plus such noise is a Boltzmann draw.
    pub fn gumbel(&mut self) -> f64 {
        -(-self.unit().ln()).ln()
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    /// The first outputs of the reference implementation for the state that SplitMix64 makes of 0.
    #[test]
    fn the_stream_is_the_published_one() {
        let mut random = Random::new(0, 0);
        assert_eq!(random.0[..2], [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4]);
        assert_eq!([random.bits(), random.bits()], [0x5317_5d61_490b_23df, 0x61da_6f3d_c380_d507]);
        assert!((0..1000).all(|_| (0.0..1.0).contains(&random.unit())));
    }
}

//! The two-dimensional Ising model on a 4x4 torus: its partition function as one einsum, its energy as a derivative.
//!
//! Z(K) = sum over spins of the product over bonds of e^(K s s'), with K the coupling over temperature. Each site is a
//! label that four bonds share, each bond a 2x2 matrix. Compared with the sum over all 65536 states, and the energy
//! -d(log Z)/dK with central differences. Infinite lattice: Onsager 1944.

use tenferro::prelude::*;

tenferro! {
    /// log Z of the 4x4 torus at coupling `coupling`; `spin` holds -1 and 1.
    #[grad(coupling)]
    fn log_partition(coupling: f64, spin: f64[2]) -> f64 {
        let t[i, j] = exp(coupling * spin[i] * spin[j]);
        let z = einsum(
            "ab,ae,bc,bf,cd,cg,da,dh,ef,ei,fg,fj,gh,gk,he,hl,ij,im,jk,jn,kl,ko,li,lp,mn,ma,no,nb,op,oc,pm,pd->",
            t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t,
            t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t
        );
        log(z)
    }
}

const SIDE: usize = 4;

/// How many states have each sum over bonds of s s', from -2 SIDE^2 to 2 SIDE^2: exact integers.
fn count_states() -> Vec<(f64, f64)> {
    let bonds = 2 * SIDE * SIDE;
    let mut count = vec![0u32; 2 * bonds + 1];
    for state in 0u32..1 << (SIDE * SIDE) {
        let spin = |r: usize, c: usize| if state >> (r % SIDE * SIDE + c % SIDE) & 1 == 1 { 1 } else { -1 };
        let mut sum = bonds as i32;
        for r in 0..SIDE {
            for c in 0..SIDE {
                sum += spin(r, c) * (spin(r, c + 1) + spin(r + 1, c));
            }
        }
        count[sum as usize] += 1;
    }
    count.into_iter().enumerate().map(|(i, n)| (i as f64 - bonds as f64, f64::from(n))).collect()
}

/// log Z and the mean energy from the counts.
fn enumerate(states: &[(f64, f64)], coupling: f64) -> (f64, f64) {
    let weights = states.iter().map(|(sum, count)| count * (coupling * sum).exp());
    let z: f64 = weights.clone().sum();
    let weighted: f64 = states.iter().zip(weights).map(|((sum, _), weight)| -sum * weight).sum();
    (z.ln(), weighted / z)
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let mut cpu = Session::cpu();
    let states = count_states();
    let spin = TypedTensor::from_vec_col_major([2], vec![-1.0, 1.0])?;
    println!(
        "coupling  {:>20}  {:>20}  {:>9}  {:>20}  {:>20}  {:>20}",
        "log Z (einsum)",
        "log Z (all states)",
        "relative",
        "energy (gradient)",
        "finite difference",
        "energy (all states)"
    );
    let mut worst: f64 = 0.0;
    for coupling in [0.0, 0.1, 0.2, 0.3, 0.4406867935097715, 0.6, 1.0] {
        let (log_z, slope) = log_partition.value_and_grad(&mut cpu, coupling, &spin)?;
        let energy = -slope;
        let (exact, exact_energy) = enumerate(&states, coupling);
        let h = 1e-5;
        let above = log_partition.run(&mut cpu, coupling + h, &spin)?;
        let below = log_partition.run(&mut cpu, coupling - h, &spin)?;
        let difference = -(above - below) / (2.0 * h);
        let relative = (log_z - exact).abs() / exact.abs();
        let energy_error = (energy - exact_energy).abs() / exact_energy.abs().max(1.0);
        worst = worst.max(relative).max(energy_error);
        println!(
            "{coupling:8.4}  {log_z:20.15}  {exact:20.15}  {relative:9.1e}  {energy:20.14}  {difference:20.9}  {exact_energy:20.14}"
        );
        if (energy - difference).abs() > 1e-6 * energy.abs().max(1.0) {
            return Err(format!("energy {energy} and its finite difference {difference} disagree").into());
        }
    }
    println!("worst relative deviation from enumeration: {worst:.1e}");
    if worst > 1e-12 {
        return Err("the einsum and the enumeration disagree".into());
    }
    Ok(())
}

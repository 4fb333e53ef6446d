use std::sync::Arc;
use std::time::Instant;
use tenferro_core::{DType, Tensor, TensorRead, TensorView, program::ProgramBuilder};
use tenferro_runtime::{reference::*, *};
struct P;
impl Provider for P {
    fn prepare(&self, r: &PrepareRequest<'_>) -> Result<Preparation> {
        r.with(r.metadata(), || Ok(Preparation::command(C)))
    }
}
#[derive(Debug)]
struct C;
impl Command for C {
    fn execute(&self, _: &mut dyn Engine, i: &[TensorView<'_>], o: &mut [&mut Tensor]) -> Result<()> {
        std::hint::black_box((i, o));
        Ok(())
    }
    fn name(&self) -> &str {
        "nop"
    }
}
fn main() {
    for reps in [1usize, 20] {
        let mut b = ProgramBuilder::new("acc");
        let n = b.size("n");
        let x = b.input("x", DType::F64, &[n]).unwrap();
        let mut acc = x;
        for _ in 0..reps {
            let t = b.mul(acc, x).unwrap();
            acc = b.add(t, x).unwrap();
        }
        let s = b.sum(acc, &[0]).unwrap();
        let p = Arc::new(b.finish(&[(None, s)]).unwrap());
        let rt = Runtime::builder()
            .register_engine(EngineRegistration::new::<ReferenceEngine>(reference::ENGINE_ID, Arc::new(P)))
            .unwrap()
            .build()
            .unwrap();
        let mut e = ReferenceEngine::new();
        let t = [e.target()];
        let x = Tensor::from_vec_col_major([16], vec![0.5; 16]).unwrap();
        let ins = [TensorRead::from(&x)];
        let pr = rt.prepare(&p, &ins, &t).unwrap();
        let mut best = [u128::MAX; 3];
        let mut out = Tensor::zeros(DType::F64, [0usize; 0]).unwrap();
        for _ in 0..50 {
            let t0 = Instant::now();
            for _ in 0..1000 {
                std::hint::black_box(rt.prepare(&p, &ins, &t).unwrap());
            }
            best[0] = best[0].min(t0.elapsed().as_nanos() / 1000);
            let t0 = Instant::now();
            for _ in 0..1000 {
                std::hint::black_box(rt.run(&mut [&mut e], &pr, &ins).unwrap());
            }
            best[1] = best[1].min(t0.elapsed().as_nanos() / 1000);
            let t0 = Instant::now();
            for _ in 0..1000 {
                rt.run_into(&mut [&mut e], &pr, &ins, &mut [&mut out]).unwrap();
            }
            best[2] = best[2].min(t0.elapsed().as_nanos() / 1000);
        }
        println!("ops={} prepare(hit)={}ns run={}ns run_into={}ns", pr.commands().count(), best[0], best[1], best[2]);
    }
}

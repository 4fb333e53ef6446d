//! Copies in which one side is contiguous along rows and the other along columns.

use tenferro_core::Scalar;

use super::lines;

/// The side of a block in which lines of both sides stay in the caches while they are used.
pub(super) const SIDE: usize = 64;
/// The side of a block that is turned in registers.
const MICRO: usize = 4;

/// `destination[i + j * d] = source[from + i * s + j]` for all `i < rows` and `j < columns`, block by block. What is
/// `beyond_caches` is written past them.
pub(super) fn transpose<T: Scalar>(
    (rows, s): (usize, isize),
    (columns, d): (usize, usize),
    destination: &mut [T],
    source: &[T],
    from: isize,
    beyond_caches: bool,
) {
    // Whole lines first, and what is left of the rows and of the columns.
    let (line_rows, line_columns) = lines::transpose((rows, s), (columns, d), destination, source, from, beyond_caches);
    let rests = [(line_rows..rows, 0..line_columns), (0..rows, line_columns..columns)];
    for (rows, columns) in rests {
        for j in columns.clone().step_by(SIDE) {
            for i in rows.clone().step_by(SIDE) {
                let sides = [SIDE.min(rows.end - i), SIDE.min(columns.end - j)];
                let from = from + i as isize * s + j as isize;
                block(sides, s, d, &mut destination[i + j * d..], source, from);
            }
        }
    }
}

fn block<T: Scalar>([rows, columns]: [usize; 2], s: isize, d: usize, destination: &mut [T], source: &[T], from: isize) {
    let (whole_rows, whole_columns) = (rows - rows % MICRO, columns - columns % MICRO);
    for i in (0..whole_rows).step_by(MICRO) {
        for j in (0..whole_columns).step_by(MICRO) {
            let from = from + i as isize * s + j as isize;
            turn(&mut destination[i + j * d..], d, source, from, s);
        }
    }
    for j in 0..columns {
        let begin = if j < whole_columns { whole_rows } else { 0 };
        for i in begin..rows {
            destination[i + j * d] = source[(from + i as isize * s + j as isize) as usize];
        }
    }
}

/// One block of `MICRO` rows and columns.
#[inline(always)]
fn turn<T: Scalar>(destination: &mut [T], d: usize, source: &[T], from: isize, s: isize) {
    let mut lines = [[T::ZERO; MICRO]; MICRO];
    for (i, line) in lines.iter_mut().enumerate() {
        line.copy_from_slice(&source[(from + i as isize * s) as usize..][..MICRO]);
    }
    for j in 0..MICRO {
        let line: [T; MICRO] = std::array::from_fn(|i| lines[i][j]);
        destination[j * d..][..MICRO].copy_from_slice(&line);
    }
}

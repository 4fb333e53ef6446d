//! Brackets, indentation and line breaks.

use super::{EDGE, Shown, step};
use crate::tensor::Layout;

pub(super) struct Rows<'a> {
    pub layout: &'a Layout,
    pub shown: &'a Shown,
    /// The text of the element at a position.
    pub format: &'a dyn Fn(usize) -> String,
    pub separator: &'a str,
}

impl Rows<'_> {
    /// The whole text; `indent` is what the lines after the first begin with.
    pub fn text(&self, indent: &str, width: usize) -> String {
        self.axis(0, self.layout.offset(), indent, width)
    }

    /// The elements from `start` along `axis` and those behind it.
    fn axis(&self, axis: usize, start: usize, indent: &str, width: usize) -> String {
        let axes_left = self.layout.rank() - axis;
        if axes_left == 0 {
            return (self.format)(start);
        }
        // An index further in starts one bracket later and ends one earlier.
        let (inner_indent, inner_width) = (format!("{indent} "), width.saturating_sub(1));
        let indices = &self.shown.0[axis];
        let mut items: Vec<String> = indices
            .iter()
            .map(|&i| {
                let start = step(self.layout, axis, start, i);
                self.axis(axis + 1, start, &inner_indent, inner_width)
            })
            .collect();
        if indices.len() < self.layout.shape()[axis] {
            items.insert(EDGE, "...".to_owned());
        }
        let body = if axes_left == 1 {
            self.row(&items, indent, width)
        } else {
            let separator = self.separator.trim_end();
            let line_end = format!("{separator}{}{indent}", "\n".repeat(axes_left - 1));
            items.join(&line_end)
        };
        format!("[{body}]")
    }

    /// Words in a line, broken where it grows too long.
    fn row(&self, words: &[String], indent: &str, width: usize) -> String {
        let limit = width.saturating_sub(self.separator.trim_end().len().max("]".len()));
        let mut text = String::new();
        let mut line = indent.to_owned();
        for (i, word) in words.iter().enumerate() {
            if i > 0 {
                line.push_str(self.separator);
            }
            if line.len() + word.len() > limit && line.len() > indent.len() {
                text.push_str(line.trim_end());
                text.push('\n');
                line = indent.to_owned();
            }
            line.push_str(word);
        }
        text.push_str(&line);
        text.split_off(indent.len())
    }
}

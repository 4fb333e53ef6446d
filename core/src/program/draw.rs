//! Pictures of a program: its values as a graph, in the languages of Graphviz and Mermaid.

use std::fmt::Write;

use super::parse::name_text;
use super::{Node, Op, SemanticProgram, SizeNames};

/// What the two languages differ in.
trait Pen {
    fn start(&mut self, title: &str);
    /// A box; `lines` are its label.
    fn node(&mut self, id: &str, kind: Kind, lines: &[String]);
    fn edge(&mut self, from: &str, to: &str, label: &str);
    fn finish(self) -> String;
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Input,
    Operation,
    Size,
    Output,
}

impl SemanticProgram {
    /// The program as a Graphviz digraph: inputs, operations with attributes, dtypes and shapes, sizes that are read
    /// off values, with edges to the operations whose attributes they are in, and outputs.
    ///
    /// ```
    /// # use tenferro_core::program::SemanticProgram;
    /// let program = SemanticProgram::parse("program f(x: f64[n]) -> f64[n] { %1 = exp x : f64[n] return %1 }")?;
    /// assert_eq!(program.to_dot(), r#"digraph "f" {
    ///   i0 [label="x\nf64[n]", shape=ellipse];
    ///   n0 [label="exp\nf64[n]", shape=box];
    ///   i0 -> n0;
    ///   o0 [label="return", shape=ellipse];
    ///   n0 -> o0;
    /// }
    /// "#);
    /// # Ok::<(), tenferro_core::program::ParseError>(())
    /// ```
    pub fn to_dot(&self) -> String {
        self.draw(Dot(String::new()))
    }

    /// The program as a Mermaid flowchart, with what [`to_dot`](Self::to_dot) shows.
    pub fn to_mermaid(&self) -> String {
        self.draw(Mermaid(String::new()))
    }

    fn draw(&self, mut pen: impl Pen) -> String {
        let names = SizeNames(&self.sizes);
        pen.start(&self.name);
        // The box that a value leaves, and the label of its edges where the box has several results.
        let mut sources: Vec<(String, String)> = Vec::with_capacity(self.values.len());
        for (i, input) in self.inputs.iter().enumerate() {
            let id = format!("i{i}");
            pen.node(&id, Kind::Input, &[name_text(&input.name).into_owned(), names.meta(self.input_meta(i))]);
            sources.push((id, String::new()));
        }
        for (i, node) in self.nodes.iter().enumerate() {
            let id = format!("n{i}");
            pen.node(&id, Kind::Operation, &self.node_label(node, names));
            for &input in node.inputs.iter() {
                let (from, label) = &sources[input.index()];
                pen.edge(from, &id, label);
            }
            let attributes = if let Op::Core(op) = &node.op { op.dims() } else { Vec::new() };
            for size in self.value_sizes() {
                let mut used = false;
                attributes.iter().for_each(|dim| dim.for_each_size(&mut |id| used |= id == size.id));
                if used {
                    pen.edge(&format!("s{}", size.id.0), &id, "");
                }
            }
            for (k, _) in node.outputs().enumerate() {
                sources.push((id.clone(), if node.output_count > 1 { k.to_string() } else { String::new() }));
            }
        }
        for size in self.value_sizes() {
            let id = format!("s{}", size.id.0);
            pen.node(&id, Kind::Size, &[format!("{} <= {}", name_text(size.name), names.dim(size.bound))]);
            let (from, label) = &sources[size.value.index()];
            pen.edge(from, &id, label);
        }
        for (i, output) in self.outputs.iter().enumerate() {
            let id = format!("o{i}");
            let name = output.name.as_ref().map_or("return".into(), |n| name_text(n).into_owned());
            pen.node(&id, Kind::Output, &[name]);
            let (from, label) = &sources[output.value.index()];
            pen.edge(from, &id, label);
        }
        pen.finish()
    }

    /// Name and attributes, of a program among these the first line, then dtype and shape of each result.
    fn node_label(&self, node: &Node, names: SizeNames<'_>) -> Vec<String> {
        let attributes = self.attributes(node);
        let attributes = attributes.lines().next().unwrap_or_default().trim_end_matches(" {");
        let mut lines = vec![format!("{}{attributes}", node.op.name())];
        lines.extend(node.outputs().map(|output| names.meta(self.meta(output))));
        lines
    }
}

struct Dot(String);

impl Dot {
    /// Inside quotes, `"` and `\` are escaped; line ends become `\n`.
    fn escape(text: &str) -> String {
        text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
    }
}

// Writing to a string does not fail.
impl Pen for Dot {
    fn start(&mut self, title: &str) {
        let _ = writeln!(self.0, "digraph \"{}\" {{", Self::escape(title));
    }

    fn node(&mut self, id: &str, kind: Kind, lines: &[String]) {
        let shape = match kind {
            Kind::Operation => "box",
            Kind::Size => "diamond",
            Kind::Input | Kind::Output => "ellipse",
        };
        let lines: Vec<String> = lines.iter().map(|l| Self::escape(l)).collect();
        let _ = writeln!(self.0, "  {id} [label=\"{}\", shape={shape}];", lines.join("\\n"));
    }

    fn edge(&mut self, from: &str, to: &str, label: &str) {
        let label = if label.is_empty() { String::new() } else { format!(" [label=\"{}\"]", Self::escape(label)) };
        let _ = writeln!(self.0, "  {from} -> {to}{label};");
    }

    fn finish(mut self) -> String {
        self.0.push_str("}\n");
        self.0
    }
}

struct Mermaid(String);

impl Mermaid {
    /// Everything but letters, digits, blanks and harmless marks becomes an entity, which Mermaid writes with `#`.
    fn escape(text: &str) -> String {
        let mut escaped = String::with_capacity(text.len());
        for c in text.chars() {
            match c {
                c if c.is_alphanumeric() || " .,:=+-_()[]%".contains(c) => escaped.push(c),
                c => {
                    let _ = write!(escaped, "#{};", u32::from(c));
                }
            }
        }
        escaped
    }
}

impl Pen for Mermaid {
    fn start(&mut self, title: &str) {
        let _ = writeln!(self.0, "%% {}\nflowchart TD", Self::escape(title));
    }

    fn node(&mut self, id: &str, kind: Kind, lines: &[String]) {
        let (open, close) = match kind {
            Kind::Operation => ("[", "]"),
            Kind::Size => ("{", "}"),
            Kind::Input | Kind::Output => ("([", "])"),
        };
        let lines: Vec<String> = lines.iter().map(|l| Self::escape(l)).collect();
        let _ = writeln!(self.0, "  {id}{open}\"{}\"{close}", lines.join("<br/>"));
    }

    fn edge(&mut self, from: &str, to: &str, label: &str) {
        let label = if label.is_empty() { String::new() } else { format!("|\"{}\"|", Self::escape(label)) };
        let _ = writeln!(self.0, "  {from} -->{label} {to}");
    }

    fn finish(self) -> String {
        self.0
    }
}

//! Tables on the screen, JSON beside the build, bars as SVG.

use std::fs;
use std::ops::Range;

use plotters::prelude::{
    BLACK, ChartBuilder, IntoDrawingArea, Palette, Palette99, Rectangle, SVGBackend, Text, WHITE,
};
use plotters::style::{Color, IntoFont};

use super::{Failure, tls};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/img");

/// Rows of words under a head; the first column is to the left.
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(head: &[&str]) -> Table {
        let head = head.iter().map(|word| (*word).to_owned()).collect();
        Table { rows: vec![head] }
    }

    pub(crate) fn row(&mut self, words: Vec<String>) {
        self.rows.push(words);
    }

    /// As Markdown, aligned, to be read on a screen as well.
    pub(crate) fn print(&self) {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let words = self.rows.iter().filter_map(|row| row.get(column));
            words.map(|word| word.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<_> = (0..columns).map(width).collect();
        for (index, row) in self.rows.iter().enumerate() {
            let mut line = String::new();
            for (column, (word, width)) in row.iter().zip(&widths).enumerate() {
                line += &match column {
                    0 => format!("| {word:<width$} |"),
                    _ => format!(" {word:>width$} |"),
                };
            }
            println!("{line}");
            if index == 0 {
                let dashes = widths.iter().map(|width| "-".repeat(width + 2));
                println!("|{}|", dashes.collect::<Vec<_>>().join("|"));
            }
        }
        println!();
    }
}

/// A number for a table, or a dash.
pub(crate) fn number(value: f64, digits: usize) -> String {
    if value.is_finite() {
        format!("{value:.digits$}")
    } else {
        "-".into()
    }
}

/// Writes the figures of a bench to `target/tmp/NAME.json`.
pub(crate) fn save(name: &str, figures: &serde_json::Value) -> Result<(), Failure> {
    let path = tls::scratch().join(format!("{name}.json"));
    fs::write(&path, serde_json::to_string_pretty(figures)?)?;
    println!("figures: {}", path.display());
    Ok(())
}

/// Draws one bar for each name into `docs/img/FILE.svg`.
pub(crate) fn draw(file: &str, title: &str, bars: &[(String, f64)]) -> Result<(), Failure> {
    fs::create_dir_all(FOLDER)?;
    let path = format!("{FOLDER}/{file}.svg");
    let height = 60 + 34 * bars.len() as u32;
    let area = SVGBackend::new(&path, (640, height)).into_drawing_area();
    area.fill(&WHITE)?;
    let most = bars.iter().map(|(_, value)| *value).fold(0.0, f64::max);
    let rows = Range {
        start: bars.len() as f64,
        end: 0.0,
    };
    let mut chart = ChartBuilder::on(&area)
        .margin(12)
        .caption(title, ("sans-serif", 15))
        .build_cartesian_2d(-0.35 * most..1.2 * most, rows)?;
    for (index, (name, value)) in bars.iter().enumerate() {
        let (top, bottom) = (index as f64 + 0.15, index as f64 + 0.85);
        let style = Palette99::pick(index).filled();
        let font = ("sans-serif", 14).into_font().color(&BLACK);
        let middle = index as f64 + 0.3;
        chart.draw_series([Rectangle::new([(0.0, top), (*value, bottom)], style)])?;
        chart.draw_series([Text::new(
            name.clone(),
            (-0.34 * most, middle),
            font.clone(),
        )])?;
        let label = number(*value, 2);
        chart.draw_series([Text::new(label, (value + 0.02 * most, middle), font)])?;
    }
    area.present()?;
    Ok(())
}

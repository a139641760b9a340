//! Two plots side by side, as SVG: client CPU for each command over tasks and over the size of values,
//! both axes logarithmic.

use std::fmt::Write;

use crate::wire::Growth;

const COLOURS: [&str; 4] = ["#d62728", "#1f77b4", "#2ca02c", "#9467bd"];
const WIDTH: f64 = 360.0;
const HEIGHT: f64 = 260.0;

pub fn growth(tasks: &[Growth], values: &[Growth]) -> String {
    let mut svg = String::new();
    write(&mut svg, tasks, values).expect("a string takes all");
    svg
}

fn write(svg: &mut String, tasks: &[Growth], values: &[Growth]) -> std::fmt::Result {
    writeln!(
        svg,
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 940 360" font-family="sans-serif" font-size="12">"##
    )?;
    writeln!(svg, r##"<rect width="940" height="360" fill="white"/>"##)?;
    panel(svg, 70.0, "tasks", tasks)?;
    panel(svg, 520.0, "bytes in a value", values)?;
    let names = tasks.first().map_or(&[][..], |growth| &growth.rows);
    for (place, (row, colour)) in names.iter().zip(COLOURS).enumerate() {
        let x = 70 + place * 120;
        writeln!(svg, r##"<rect x="{x}" y="338" width="12" height="4" fill="{colour}"/>"##)?;
        writeln!(svg, r##"<text x="{}" y="345">{}</text>"##, x + 18, row.name)?;
    }
    writeln!(svg, "</svg>")
}

fn panel(svg: &mut String, left: f64, what: &str, growth: &[Growth]) -> std::fmt::Result {
    let top = 30.0;
    let cpus = growth.iter().flat_map(|growth| growth.rows.iter().map(|row| row.cost.cpu / 1e3));
    let (low, high) =
        cpus.fold((f64::MAX, f64::MIN), |(low, high), cpu| (low.min(cpu), high.max(cpu)));
    let (low, high) = (low.log10().floor(), high.log10().ceil());
    let ats = growth.iter().map(|growth| (growth.at as f64).log10());
    let (first, last) = ats.fold((f64::MAX, f64::MIN), |(a, b), at| (a.min(at), b.max(at)));
    let x = |at: f64| left + (at.log10() - first) / (last - first) * WIDTH;
    let y = |cpu: f64| top + HEIGHT - (cpu.log10() - low) / (high - low) * HEIGHT;
    writeln!(
        svg,
        r##"<text x="{left}" y="18">client CPU, µs for each command, over {what}</text>"##
    )?;
    let mut decade = low;
    while decade <= high {
        let (value, at) = (10_f64.powf(decade), y(10_f64.powf(decade)));
        writeln!(svg, r##"<path d="M{left} {at:.1}h{WIDTH}" stroke="#ddd"/>"##)?;
        writeln!(
            svg,
            r##"<text x="{}" y="{:.1}" text-anchor="end">{value}</text>"##,
            left - 6.0,
            at + 4.0
        )?;
        decade += 1.0;
    }
    for growth in growth {
        let (at, foot) = (x(growth.at as f64), top + HEIGHT + 16.0);
        writeln!(
            svg,
            r##"<text x="{at:.1}" y="{foot}" text-anchor="middle">{}</text>"##,
            growth.at
        )?;
    }
    let peers = growth.first().map_or(0, |growth| growth.rows.len());
    for (peer, colour) in (0..peers).zip(COLOURS) {
        let points: Vec<_> = growth
            .iter()
            .map(|growth| (x(growth.at as f64), y(growth.rows[peer].cost.cpu / 1e3)))
            .map(|(x, y)| format!("{x:.1},{y:.1}"))
            .collect();
        let points = points.join(" ");
        writeln!(
            svg,
            r##"<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>"##
        )?;
    }
    Ok(())
}

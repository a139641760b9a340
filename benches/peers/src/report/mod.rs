//! All that was measured, as one page.

mod goals;
mod machine;

use std::fmt::Write;

use crate::{
    codec,
    rounds::Row,
    wire::{self, Growth, Threads, memory::Memory, place::Way},
};

pub struct Report {
    pub decode: Vec<codec::Table>,
    pub encode: Vec<codec::Table>,
    pub wire: Vec<wire::Table>,
    pub tasks: Vec<Growth>,
    pub values: Vec<Growth>,
    pub memory: Memory,
}

impl Report {
    pub fn markdown(&self) -> String {
        let mut page = String::new();
        self.write(&mut page).expect("a string takes all");
        page
    }

    fn write(&self, page: &mut String) -> std::fmt::Result {
        writeln!(page, "# Results\n")?;
        writeln!(
            page,
            "Written by `./run bench peers`. Every figure is a median over rounds in which all"
        )?;
        writeln!(
            page,
            "contenders took turns, in one process; ratios are medians of the rounds' ratios."
        )?;
        writeln!(
            page,
            "Only figures of one table compare. Memory that was freed stays with the process, so that"
        )?;
        writeln!(page, "no contender pays for the pages of another.\n")?;
        machine::write(page)?;
        goals::write(page, self)?;
        writeln!(page, "\n## Decoding\n")?;
        writeln!(
            page,
            "Nanoseconds each, allocations each, and the time as a ratio to the floor. Replies are"
        )?;
        writeln!(page, "kept until the whole stream is decoded, and dropped within the time.\n")?;
        self.decode.iter().try_for_each(|table| codec_table(page, table))?;
        writeln!(page, "\n## Encoding\n")?;
        self.encode.iter().try_for_each(|table| codec_table(page, table))?;
        writeln!(page, "\n## One connection to a real server\n")?;
        writeln!(
            page,
            "Client CPU in µs for each command, commands a second, allocations and syscalls for each"
        )?;
        writeln!(page, "command, and the client CPU of echo_wire as a ratio to the row's.\n")?;
        self.wire.iter().try_for_each(|table| wire_table(page, table))?;
        writeln!(page, "\n## How cost grows\n\n![growth](growth.svg)\n")?;
        writeln!(
            page,
            "One connection over TCP, half GET and half SET; client CPU in µs for each command, and"
        )?;
        writeln!(page, "thousands of commands a second.\n")?;
        growth_table(page, "tasks (values of 64 B)", &self.tasks)?;
        growth_table(page, VALUES, &self.values)?;
        let Memory { idle, pending, task } = self.memory;
        writeln!(page, "## Memory\n")?;
        writeln!(
            page,
            "- an idle `Connector`: {idle:.0} B on the heap, its task and buffers in it;"
        )?;
        writeln!(
            page,
            "- a GET in flight: {pending:.0} B in the link, beside the caller's own task of {task:.0} B."
        )
    }
}

/// One part alone.
pub fn codecs(tables: &[codec::Table]) -> String {
    let mut page = String::new();
    tables.iter().try_for_each(|table| codec_table(&mut page, table)).expect("a string takes all");
    page
}

/// One part alone.
pub fn values(values: &[Growth]) -> String {
    let mut page = String::new();
    growth_table(&mut page, VALUES, values).expect("a string takes all");
    page
}

const VALUES: &str = "bytes in a value (64 tasks)";

fn codec_table(page: &mut String, table: &codec::Table) -> std::fmt::Result {
    let codec::Table { name, unit, bytes, rows } = table;
    writeln!(page, "**{name}**, for each {unit}\n")?;
    writeln!(page, "| | ns | GB/s | allocations | ÷ floor |\n|---|---:|---:|---:|---:|")?;
    for Row { name, cost, wall_ratio, .. } in rows {
        let (ns, gb) = (cost.wall, bytes / cost.wall);
        writeln!(
            page,
            "| {name} | {ns:.1} | {gb:.2} | {:.2} | {wall_ratio:.2} |",
            cost.allocations
        )?;
    }
    writeln!(page)
}

fn wire_table(page: &mut String, table: &wire::Table) -> std::fmt::Result {
    let way = if table.way == Way::Tcp { "TCP over loopback" } else { "a Unix socket" };
    let threads = match table.threads {
        Threads::One => "current-thread runtime",
        Threads::Two => "two worker threads",
    };
    writeln!(page, "**{}** ({way}, {threads})\n", table.load)?;
    writeln!(page, "| | CPU µs | commands/s | allocations | syscalls | echo_wire ÷ it |")?;
    writeln!(page, "|---|---:|---:|---:|---:|---:|")?;
    for (Row { name, cost, cpu_ratio, .. }, syscalls) in &table.rows {
        let syscalls = syscalls.map_or("–".into(), |syscalls| format!("{syscalls:.3}"));
        let (cpu, rate, ratio) = (cost.cpu / 1e3, 1e9 / cost.wall, 1.0 / cpu_ratio);
        let allocations = cost.allocations;
        writeln!(
            page,
            "| {name} | {cpu:.3} | {rate:.0} | {allocations:.2} | {syscalls} | {ratio:.2} |"
        )?;
    }
    writeln!(page)
}

fn growth_table(page: &mut String, what: &str, growth: &[Growth]) -> std::fmt::Result {
    let Some(first) = growth.first() else { return Ok(()) };
    write!(page, "| {what} |")?;
    first.rows.iter().try_for_each(|row| write!(page, " {} |", row.name))?;
    write!(page, "\n|---:|")?;
    first.rows.iter().try_for_each(|_| write!(page, "---:|"))?;
    writeln!(page)?;
    for Growth { at, rows } in growth {
        write!(page, "| {at} |")?;
        for row in rows {
            write!(page, " {:.2} µs, {:.0} k/s |", row.cost.cpu / 1e3, 1e6 / row.cost.wall)?;
        }
        writeln!(page)?;
    }
    writeln!(page)
}

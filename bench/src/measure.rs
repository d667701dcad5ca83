//! This process's clocks, memory and cores.

use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};

use crate::plan::{Flooded, Job, Sample};

/// Pins this thread, and what it starts from now on, to a core.
pub(crate) fn pin(core: usize) -> Result<()> {
    let mut set = CpuSet::new();
    set.set(core);
    sched_setaffinity(None, &set).with_context(|| format!("cannot run on core {core}"))
}

/// The cores of a client and of its server: two if there are two, the last ones, which idle most.
pub(crate) fn two_cores() -> Result<(usize, usize)> {
    let set = sched_getaffinity(None)?;
    let mut cores = (0..CpuSet::MAX_CPU).rev().filter(|&core| set.is_set(core));
    let client = cores.next().context("no core to run on")?;
    Ok((client, cores.next().unwrap_or(client)))
}

/// CPU time of this process, of all its threads, of the user and of the kernel.
pub(crate) fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let nanos = u32::try_from(time.tv_nsec).unwrap_or(0);
    Duration::new(seconds, nanos).as_secs_f64()
}

/// Resident memory of this process since it was connected.
pub(crate) struct Memory {
    idle_bytes: u64,
}

impl Memory {
    /// Begins: what is resident now counts as idle, and the peak begins here.
    pub(crate) fn begin() -> Result<Self> {
        // 5 resets the peak.
        fs::write("/proc/self/clear_refs", "5").context("cannot reset the peak of memory")?;
        Ok(Self {
            idle_bytes: status_bytes("VmRSS:")?,
        })
    }

    fn peak_bytes(&self) -> Result<u64> {
        status_bytes("VmHWM:")
    }
}

/// What is resident of this process.
pub(crate) fn resident_bytes() -> Result<u64> {
    status_bytes("VmRSS:")
}

fn status_bytes(field: &str) -> Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let value = status
        .lines()
        .find_map(|line| line.strip_prefix(field))
        .and_then(|value| value.trim().strip_suffix(" kB"))
        .with_context(|| format!("/proc/self/status has no {field}"))?;
    Ok(value.parse::<u64>()? * 1024)
}

/// Calls one after the other, each timed.
pub(crate) struct Alone {
    memory: Memory,
    warm_until: Instant,
    length: Duration,
    /// When the measured time and the CPU time of it began.
    begun: Option<(Instant, f64)>,
    last: Instant,
    seconds: Vec<f32>,
}

impl Alone {
    pub(crate) fn begin(job: &Job) -> Result<Self> {
        // Room for the fastest imaginable, touched before anything is measured.
        let mut seconds = vec![1.0; 1 << 20];
        seconds.clear();
        let memory = Memory::begin()?;
        let now = Instant::now();
        Ok(Self {
            memory,
            warm_until: now + job.warm_up,
            length: job.length,
            begun: None,
            last: now,
            seconds,
        })
    }

    /// Notes the end of a call, which is the beginning of the next; `false` once it was the last.
    pub(crate) fn called(&mut self) -> bool {
        let now = Instant::now();
        match self.begun {
            None if now < self.warm_until => self.last = now,
            None => {
                let cpu = cpu_seconds();
                self.last = Instant::now();
                self.begun = Some((self.last, cpu));
            }
            Some((begun, _)) => {
                self.seconds.push((now - self.last).as_secs_f32());
                self.last = now;
                return now < begun + self.length;
            }
        }
        true
    }

    pub(crate) fn finish(mut self) -> Result<Sample> {
        let cpu_end = cpu_seconds();
        let (begun, cpu_begun) = self.begun.context("no call was measured")?;
        self.seconds.sort_by(f32::total_cmp);
        let at = |per_cent: usize| {
            let index = self.seconds.len() * per_cent / 100;
            let last = self.seconds.len().saturating_sub(1);
            self.seconds.get(index.min(last)).copied().map(f64::from)
        };
        Ok(Sample {
            calls: self.seconds.len() as u64,
            seconds: (self.last - begun).as_secs_f64(),
            cpu_seconds: cpu_end - cpu_begun,
            median_seconds: at(50),
            p99_seconds: at(99),
            idle_bytes: self.memory.idle_bytes,
            peak_bytes: self.memory.peak_bytes()?,
            flood: None,
        })
    }
}

/// Calls that overlap, counted between two instants.
pub(crate) struct Window {
    memory: Memory,
    warm_until: Instant,
    length: Duration,
    /// The clock is read once in so many calls.
    stride: u64,
    calls: u64,
    looked: u64,
    /// When the measured time began, its CPU time, the calls before it.
    begun: Option<(Instant, f64, u64)>,
    ended: Option<(Instant, f64, u64)>,
}

impl Window {
    pub(crate) fn begin(job: &Job) -> Result<Self> {
        let stride = if job.cell.result_bytes < 100_000 {
            64
        } else {
            1
        };
        let memory = Memory::begin()?;
        Ok(Self {
            memory,
            warm_until: Instant::now() + job.warm_up,
            length: job.length,
            stride,
            calls: 0,
            looked: 0,
            begun: None,
            ended: None,
        })
    }

    /// Notes the ends of calls; `false` once the window is over.
    pub(crate) fn called(&mut self, calls: u64) -> bool {
        self.calls += calls;
        if self.calls - self.looked >= self.stride {
            self.looked = self.calls;
            self.look();
        }
        self.ended.is_none()
    }

    fn look(&mut self) {
        let now = Instant::now();
        match self.begun {
            None if now >= self.warm_until => self.begun = Some((now, cpu_seconds(), self.calls)),
            Some((begun, ..)) if self.ended.is_none() && now >= begun + self.length => {
                self.ended = Some((now, cpu_seconds(), self.calls));
            }
            _ => {}
        }
    }

    pub(crate) fn finish(&self) -> Result<Sample> {
        let (begun, cpu_begun, calls_before) = self.begun.context("no call was measured")?;
        let (ended, cpu_ended, calls) = self.ended.context("the measurement was not finished")?;
        Ok(Sample {
            calls: calls - calls_before,
            seconds: (ended - begun).as_secs_f64(),
            cpu_seconds: cpu_ended - cpu_begun,
            median_seconds: None,
            p99_seconds: None,
            idle_bytes: self.memory.idle_bytes,
            peak_bytes: self.memory.peak_bytes()?,
            flood: None,
        })
    }
}

/// The sample of a flood that began with this memory and ended so.
pub(crate) fn flooded(memory: &Memory, begun: Instant, flood: Flooded) -> Result<Sample> {
    Ok(Sample {
        calls: 1,
        seconds: begun.elapsed().as_secs_f64(),
        cpu_seconds: cpu_seconds(),
        median_seconds: None,
        p99_seconds: None,
        idle_bytes: memory.idle_bytes,
        peak_bytes: memory.peak_bytes()?,
        flood: Some(flood),
    })
}

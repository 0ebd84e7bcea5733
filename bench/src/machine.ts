import { readFileSync } from 'node:fs';
import { arch, cpus, platform, release, totalmem } from 'node:os';

/** One line about the machine on which the figures were measured. */
export function machine(): string {
  const gib = (totalmem() / 2 ** 30).toFixed(0);
  return `${cpus()[0]?.model.trim() ?? 'unknown CPU'}, ${cpus().length} cores shared with the load, ${gib} GiB, ${platform()} ${release()} ${arch()}, Node ${process.version}`;
}

/** CPU seconds that a process has used, user and system, from /proc (Linux only; NaN elsewhere). */
export function cpuSeconds(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // Fields 14 and 15 of proc(5), in clock ticks; Linux reports 100 a second to user space.
    return (Number(fields[11]) + Number(fields[12])) / 100;
  } catch {
    return NaN;
  }
}

/** CPU seconds that all processes of the machine have used, from /proc (Linux only; NaN elsewhere). */
export function machineCpuSeconds(): number {
  try {
    const [user = NaN, nice = NaN, system = NaN, , , irq = NaN, softirq = NaN] = readFileSync('/proc/stat', 'utf8')
      .slice('cpu '.length, 200)
      .trim()
      .split(/\s+/)
      .map(Number);
    return (user + nice + system + irq + softirq) / 100;
  } catch {
    return NaN;
  }
}

/** Resident memory of a process in MiB (Linux only; NaN elsewhere). */
export function residentMiB(pid: number): number {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
  } catch {
    return NaN;
  }
}

// Formats numbers for display: money, tokens, durations, rates with intervals, times.

const integerFormat = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

const centsFormat = new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 });

/** An integer with thousands separators. */
export const formatCount = (number: number): string => integerFormat.format(number);

/** A count in at most four characters: 950, 12.3k, 4.1M. */
export function formatCompact(number: number): string {
  if (number < 1000) return String(Math.round(number));
  if (number < 999_500) return `${formatMantissa(number / 1e3)}k`;
  return number < 999_500_000 ? `${formatMantissa(number / 1e6)}M` : `${formatMantissa(number / 1e9)}G`;
}

const formatMantissa = (number: number): string =>
  number < 99.95 ? number.toFixed(1).replace(/\.0$/, '') : number.toFixed(0);

/** US dollars: cents for large amounts, more digits for small ones; unknown is not zero. */
export function formatUsd(usd: number | undefined): string {
  if (usd === undefined) return 'unknown';
  if (usd === 0) return '$0';
  if (usd >= 10_000) return `$${integerFormat.format(usd)}`;
  if (usd >= 0.1) return `$${centsFormat.format(usd)}`;
  return usd < 0.0001 ? '< $0.0001' : `$${usd.toFixed(4).replace(/0{1,2}$/, '')}`;
}

/** A duration: 340 ms, 2.4 s, 3 min 20 s, 5 h 2 min, 3 d 4 h. */
export function formatDuration(ms: number): string {
  if (ms < 0) return '0 ms';
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1).replace(/\.0$/, '')} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return formatTwoUnits(seconds, 60, 'min', 's');
  return seconds < 86_400
    ? formatTwoUnits(Math.round(seconds / 60), 60, 'h', 'min')
    : formatTwoUnits(Math.round(seconds / 3600), 24, 'd', 'h');
}

function formatTwoUnits(amount: number, size: number, large: string, small: string): string {
  const rest = amount % size;
  return rest === 0 ? `${amount / size} ${large}` : `${Math.floor(amount / size)} ${large} ${rest} ${small}`;
}

/** Adds a period if the text has no end mark. */
export const ensurePeriod = (text: string): string => (/[.!?…]$/.test(text.trim()) ? text.trim() : `${text.trim()}.`);

/** A relative time in one unit. */
export function formatRelativeTime(time: string, now: number): string {
  const ms = now - Date.parse(time);
  if (!Number.isFinite(ms)) return time;
  if (ms < 5000) return 'just now';
  const seconds = Math.floor(ms / 1000);
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  return seconds < 86_400 ? `${Math.floor(seconds / 3600)} h ago` : `${Math.floor(seconds / 86_400)} d ago`;
}

/** The time of day, with the date if it is another day. */
export function formatTime(time: string, now: number): string {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return time;
  const hours = date.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
  if (new Date(now).toDateString() === date.toDateString()) return hours;
  const isThisYear = new Date(now).getFullYear() === date.getFullYear();
  const day = date.toLocaleDateString('en-GB', {
    day: 'numeric',
    month: 'short',
    ...(isThisYear ? {} : { year: 'numeric' }),
  });
  return `${day} ${hours.slice(0, 5)}`;
}

/** The full date and time in the user's time zone. */
export function formatDateTime(time: string): string {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return time;
  return date.toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'long' });
}

/** A percentage, with enough digits to differ from 0 % and 100 %. */
export function formatPercent(rate: number): string {
  if (rate < 0) return `−${formatPercent(-rate)}`;
  const hundredths = rate * 100;
  if (hundredths === 0 || hundredths === 100) return `${hundredths}%`;
  if (hundredths < 0.1) return '< 0.1%';
  if (hundredths > 100) return `${Math.round(hundredths)}%`;
  if (hundredths > 99.9) return '> 99.9%';
  return `${hundredths.toFixed(hundredths < 10 || hundredths > 90 ? 1 : 0).replace(/\.0$/, '')}%`;
}

/** An interval of a rate in percent. */
export const formatPercentInterval = ([low, high]: readonly [number, number]): string =>
  `${formatPercent(low)} to ${formatPercent(high)}`;

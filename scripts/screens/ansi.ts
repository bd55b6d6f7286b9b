// From a captured terminal to a picture: lines with colour codes in, an SVG out.

/** A stretch of one line in one look. */
type Run = {
  readonly text: string;
  readonly colour: string;
  readonly back: string | undefined;
  readonly bold: boolean;
  readonly dim: boolean;
};

type Look = Omit<Run, 'text'>;

const basic = ['#3c3836', '#fb4934', '#b8bb26', '#fabd2f', '#83a598', '#d3869b', '#8ec07c', '#ebdbb2'];
const bright = ['#928374', '#fb4934', '#b8bb26', '#fabd2f', '#83a598', '#d3869b', '#8ec07c', '#fbf1c7'];
const plain: Look = { colour: '#ebdbb2', back: undefined, bold: false, dim: false };

/** The colour of a palette number. */
function palette(n: number): string {
  if (n < 8) return basic[n] as string;
  if (n < 16) return bright[n - 8] as string;
  if (n >= 232) return hex([n, n, n].map((each) => (each - 232) * 10 + 8));
  const level = (each: number): number => (each === 0 ? 0 : each * 40 + 55);
  const at = n - 16;
  return hex([level(Math.floor(at / 36)), level(Math.floor(at / 6) % 6), level(at % 6)]);
}

const hex = (parts: readonly number[]): string =>
  `#${parts.map((each) => each.toString(16).padStart(2, '0')).join('')}`;

/** The look after a colour code. */
function after(look: Look, codes: readonly number[]): Look {
  let now = look;
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i] as number;
    if (code === 0) now = plain;
    else if (code === 1) now = { ...now, bold: true };
    else if (code === 2) now = { ...now, dim: true };
    else if (code === 7) now = { ...now, colour: '#1d2021', back: '#ebdbb2' };
    else if (code === 22) now = { ...now, bold: false, dim: false };
    else if (code === 27) now = { ...now, colour: plain.colour, back: undefined };
    else if (code >= 30 && code <= 37) now = { ...now, colour: basic[code - 30] as string };
    else if (code >= 90 && code <= 97) now = { ...now, colour: bright[code - 90] as string };
    else if (code === 39) now = { ...now, colour: plain.colour };
    else if (code === 49) now = { ...now, back: undefined };
    else if (code >= 40 && code <= 47) now = { ...now, back: basic[code - 40] };
    else if (code === 38 || code === 48) {
      const wide = codes[i + 1] === 2;
      const colour = wide ? hex(codes.slice(i + 2, i + 5)) : palette(codes[i + 2] ?? 7);
      now = code === 38 ? { ...now, colour } : { ...now, back: colour };
      i += wide ? 4 : 2;
    }
  }
  return now;
}

/** The stretches of a line. */
function runsOf(line: string): readonly Run[] {
  const runs: Run[] = [];
  let look = plain;
  // eslint-disable-next-line no-control-regex
  for (const piece of line.split(/(\u001b\[[\d;]*m)/)) {
    // eslint-disable-next-line no-control-regex
    const codes = /^\u001b\[([\d;]*)m$/.exec(piece)?.[1];
    if (codes !== undefined) look = after(look, codes === '' ? [0] : codes.split(';').map(Number));
    else if (piece) runs.push({ text: piece, ...look });
  }
  return runs;
}

const escape = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
const cell = 8.13;
const row = 18;

/** Captured lines as a picture; empty ones at the end are left away. */
export function svgOf(captured: string, columns: number): string {
  const lines = captured.replace(/\s+$/, '').split('\n');
  const texts = lines.map((line, i) => {
    let at = 0;
    return runsOf(line)
      .map(({ text, colour, back, bold, dim }) => {
        const x = (12 + at * cell).toFixed(1);
        at += text.length;
        const box = back
          ? `<rect x="${x}" y="${14 + i * row}" width="${(text.length * cell).toFixed(1)}" height="${row}" fill="${back}"/>`
          : '';
        if (!text.trim()) return box;
        const look = `${bold ? ' font-weight="bold"' : ''}${dim ? ' opacity="0.65"' : ''}`;
        return `${box}<text x="${x}" y="${28 + i * row}" fill="${colour}"${look} xml:space="preserve" textLength="${(text.length * cell).toFixed(1)}">${escape(text)}</text>`;
      })
      .join('');
  });
  const height = 30 + lines.length * row;
  const width = Math.ceil(24 + columns * cell);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="ui-monospace, Menlo, Consolas, monospace" font-size="13.5">
<rect width="100%" height="100%" rx="8" fill="#1d2021"/>
${texts.filter(Boolean).join('\n')}
</svg>
`;
}

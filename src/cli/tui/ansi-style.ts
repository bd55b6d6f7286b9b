// ANSI styles and colors for terminal text; the only file that writes style sequences.

/** Applies a style to a text. */
export type TextStyler = (text: string) => string;

/** The styles by name; each returns the text unchanged if styles are off. */
export type TextStyles = Readonly<Record<keyof typeof STYLES | keyof typeof COLORS, TextStyler>>;

const STYLES = {
  bold: [1, 22],
  dim: [2, 22],
  italic: [3, 23],
  underline: [4, 24],
  inverse: [7, 27],
  strike: [9, 29],
} as const;
const COLORS = {
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  blue: [34, 39],
  magenta: [35, 39],
  cyan: [36, 39],
} as const;

const unstyled: TextStyler = (text) => text;

function createStyler([on, off]: readonly [number, number]): TextStyler {
  return (text) => (text === '' ? '' : `\x1b[${on}m${text}\x1b[${off}m`);
}

/** Creates the styles: with colors and attributes such as bold, with attributes only, or with neither. */
export function createTextStyles(mode: 'colors' | 'attributes' | 'none'): TextStyles {
  const styles: Partial<Record<keyof TextStyles, TextStyler>> = {};
  for (const [name, codes] of Object.entries({ ...STYLES, ...COLORS })) {
    const enabled = mode === 'colors' || (mode === 'attributes' && name in STYLES);
    styles[name as keyof TextStyles] = enabled ? createStyler(codes) : unstyled;
  }
  return styles as TextStyles;
}

/** Whether to use colors: FORCE_COLOR wins over NO_COLOR, which wins over whether the output is a terminal. */
export function wantsColors(env: NodeJS.ProcessEnv, terminal: boolean): boolean {
  const force = env['FORCE_COLOR'];
  if (force !== undefined) return force !== '0' && force !== 'false';
  if ((env['NO_COLOR'] ?? '') !== '') return false;
  return terminal && env['TERM'] !== 'dumb';
}

// Colours and weights for a terminal, or none at all: the one place that writes style sequences.

/** Dresses a piece of text. */
export type TextStyler = (text: string) => string;

/** The brushes of a face; every one gives its text back as it is where styles are not wanted. */
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

/** Brushes with colours and weights, with weights alone, or with neither. */
export function createTextStyles(how: 'colors' | 'attributes' | 'none'): TextStyles {
  const made: Partial<Record<keyof TextStyles, TextStyler>> = {};
  for (const [name, codes] of Object.entries({ ...STYLES, ...COLORS })) {
    const wanted = how === 'colors' || (how === 'attributes' && name in STYLES);
    made[name as keyof TextStyles] = wanted ? createStyler(codes) : unstyled;
  }
  return made as TextStyles;
}

/** Whether colours are wanted: FORCE_COLOR over NO_COLOR over whether a terminal is there. */
export function wantsColors(env: NodeJS.ProcessEnv, terminal: boolean): boolean {
  const force = env['FORCE_COLOR'];
  if (force !== undefined) return force !== '0' && force !== 'false';
  if ((env['NO_COLOR'] ?? '') !== '') return false;
  return terminal && env['TERM'] !== 'dumb';
}

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

/** The themes of the terminal; `none` uses attributes such as bold, and no colors. */
export type Theme = 'dark' | 'light' | 'high-contrast' | 'none';

/** A theme, or `auto` for the one that fits the background. */
export type ThemeName = Theme | 'auto';

/** Codes of a theme that differ from the usual ones; undefined for no style. */
const THEMES: Readonly<Record<Theme, Readonly<Record<string, readonly [number | string, number] | undefined>>>> = {
  dark: {},
  // Yellow, cyan and green of a terminal are hard to read on white.
  light: { yellow: ['38;5;94', 39], cyan: ['38;5;25', 39], green: ['38;5;28', 39], red: ['38;5;124', 39] },
  'high-contrast': {
    dim: undefined,
    red: [91, 39],
    green: [92, 39],
    yellow: [93, 39],
    blue: [94, 39],
    magenta: [95, 39],
    cyan: [96, 39],
  },
  none: Object.fromEntries(Object.keys(COLORS).map((name) => [name, undefined])),
};

/** Returns the theme for a name: `auto` takes the background that the terminal states in COLORFGBG, or dark. */
export function resolveTheme(name: ThemeName, env: NodeJS.ProcessEnv = process.env): Theme {
  if (name !== 'auto') return name;
  const background = /;(\d+)$/.exec(env['COLORFGBG'] ?? '')?.[1];
  return background === '7' || background === '15' ? 'light' : 'dark';
}

/** Styles whose theme can change: each styler reads the current theme when it is called. */
export type ThemedStyles = { readonly styles: TextStyles; readonly setTheme: (theme: Theme) => void };

/** Creates styles with a theme. */
export function createThemedStyles(first: Theme): ThemedStyles {
  let theme = first;
  const names = Object.entries({ ...STYLES, ...COLORS }) as [keyof TextStyles, readonly [number, number]][];
  const styles = Object.fromEntries(
    names.map(([name, usual]) => [
      name,
      (text: string): string => {
        const changed = THEMES[theme];
        const codes = Object.hasOwn(changed, name) ? changed[name] : usual;
        return text === '' || codes === undefined ? text : `\x1b[${codes[0]}m${text}\x1b[${codes[1]}m`;
      },
    ]),
  ) as unknown as TextStyles;
  return { styles, setTheme: (next) => void (theme = next) };
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

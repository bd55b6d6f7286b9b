// Light or dark theme: the system's by default, or the user's choice.
import type { JSX } from 'preact';
import { createAtom, useAtom } from '../state/atom.ts';
import type { IconName } from '../text/icon-shapes.ts';
import { Icon } from './icon.tsx';

const themeStorageKey = 'fairlead-theme';
const themes = ['system', 'light', 'dark'] as const;

/** One of the themes. */
export type Theme = (typeof themes)[number];

const themeLabels: Readonly<Record<Theme, readonly [name: string, icon: IconName]>> = {
  system: ['Auto', 'auto'],
  light: ['Light', 'sun'],
  dark: ['Dark', 'moon'],
};

const loadTheme = (): Theme => themes.find((each) => each === localStorage.getItem(themeStorageKey)) ?? 'system';

const currentTheme = createAtom<Theme>(loadTheme());

/** Applies the stored choice; must run before the first render, to avoid a flash. */
export function applyTheme(theme: Theme = loadTheme()): void {
  if (theme === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
}

/** Stores and applies a choice. */
export function setTheme(theme: Theme): void {
  localStorage.setItem(themeStorageKey, theme);
  applyTheme(theme);
  currentTheme.set(theme);
  // Charts are drawn on a canvas, which does not follow the style by itself.
  dispatchEvent(new Event('fairlead-theme'));
}

/** A button that cycles through the three choices. */
export function ThemeToggle(): JSX.Element {
  const theme = useAtom(currentTheme);
  const next = themes[(themes.indexOf(theme) + 1) % themes.length] ?? 'system';
  const [name, icon] = themeLabels[theme];
  return (
    <button
      type="button"
      class="quiet icon-only theme"
      title={`Theme: ${name}. Next: ${themeLabels[next][0]}`}
      onClick={() => setTheme(next)}
    >
      <Icon name={icon} />
      <span class="unseen">Theme: {name}</span>
    </button>
  );
}

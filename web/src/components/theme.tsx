// Light or dark theme: the system's by default, or the user's choice.
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';

const themeStorageKey = 'fairlead-theme';
const themes = ['system', 'light', 'dark'] as const;
type Theme = (typeof themes)[number];

const loadTheme = (): Theme => themes.find((each) => each === localStorage.getItem(themeStorageKey)) ?? 'system';

/** Applies the stored choice; must run before the first render, to avoid a flash. */
export function applyTheme(theme: Theme = loadTheme()): void {
  if (theme === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
}

/** A button that cycles through the three choices. */
export function ThemeToggle(): JSX.Element {
  const [theme, setTheme] = useState(loadTheme);
  useEffect(() => {
    localStorage.setItem(themeStorageKey, theme);
    applyTheme(theme);
    // Charts are drawn on a canvas, which does not follow the style by itself.
    dispatchEvent(new Event('fairlead-theme'));
  }, [theme]);
  const next = themes[(themes.indexOf(theme) + 1) % themes.length] ?? 'system';
  return (
    <button type="button" class="quiet theme" title={`Colours: ${theme}. Next: ${next}`} onClick={() => setTheme(next)}>
      <span class="theme-name">Colours: </span>
      {theme === 'system' ? 'Auto' : theme === 'light' ? 'Light' : 'Dark'}
    </button>
  );
}

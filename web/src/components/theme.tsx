// Light or dark: as the system has it, until somebody says otherwise.
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';

const themeStorageKey = 'fairlead-theme';
const themes = ['system', 'light', 'dark'] as const;
type Theme = (typeof themes)[number];

const loadTheme = (): Theme => themes.find((each) => each === localStorage.getItem(themeStorageKey)) ?? 'system';

/** Takes over what was chosen before; called before the first drawing so that nothing flashes. */
export function applyTheme(theme: Theme = loadTheme()): void {
  if (theme === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
}

/** Goes through the three choices. */
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

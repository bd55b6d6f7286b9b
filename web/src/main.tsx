// Entry point: reads the key from the URL, applies the theme and renders the app.
import { render } from 'preact';
import { App } from './app.tsx';
import { startRouter } from './state/router.ts';
import { applyTheme } from './components/theme.tsx';
import { startTabTitle } from './state/page-title.ts';
import markedIcon from './style/icon-waiting.svg';
import plainIcon from './style/icon.svg';
import { loadKey } from './api/connection.ts';
import { startTabSync } from './api/tab-sync.ts';

applyTheme();
startTabTitle({ plain: plainIcon, marked: markedIcon });
loadKey();
startTabSync();
startRouter();
const rootElement = document.querySelector('#page');
if (rootElement) render(<App />, rootElement);
// A key in the URL is also used if the page is already open.
addEventListener('hashchange', () => {
  if (/[#&]key=/.test(location.hash)) loadKey();
});

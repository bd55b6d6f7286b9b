// Where the page begins: the key is taken from the address, the theme from before, and the page is drawn.
import { render } from 'preact';
import { App } from './app.tsx';
import { startRouter } from './state/router.ts';
import { applyTheme } from './components/theme.tsx';
import { loadKey } from './api/connection.ts';
import { startTabSync } from './api/tab-sync.ts';

applyTheme();
loadKey();
startTabSync();
startRouter();
const rootElement = document.querySelector('#page');
if (rootElement) render(<App />, rootElement);
// A key that comes with an address while the page is open counts as well.
addEventListener('hashchange', () => {
  if (/[#&]key=/.test(location.hash)) loadKey();
});

// Where the page begins: the key is taken from the address, the theme from before, and the page is drawn.
import { render } from 'preact';
import { App } from './app.tsx';
import { followAddress } from './view/route.ts';
import { applyTheme } from './view/theme.tsx';
import { findKey } from './wire/connection.ts';
import { joinTabs } from './wire/tabs.ts';

applyTheme();
findKey();
joinTabs();
followAddress();
const place = document.querySelector('#page');
if (place) render(<App />, place);
// A key that comes with an address while the page is open counts as well.
addEventListener('hashchange', () => {
  if (/[#&]key=/.test(location.hash)) findKey();
});

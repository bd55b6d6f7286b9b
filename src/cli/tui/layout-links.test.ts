// Links and images of an answer in the terminal: the address is text, in terminals with hyperlinks too, and code stays as it is.
import assert from 'node:assert/strict';
import test from 'node:test';
import { resetCapabilitiesCache } from '@earendil-works/pi-tui';
import { assertAttack } from '../../../test/support/attack-report.ts';
import { createTextStyles } from './ansi-style.ts';
import { createLayoutStyle, renderChunk, showImageTargets } from './layout.ts';

test('[attack 56] a terminal that has hyperlinks gets none: the address is shown', (t) => {
  const saved = { ...process.env };
  try {
    delete process.env['TMUX'];
    Object.assign(process.env, { TERM: 'xterm-256color', TERM_PROGRAM: 'WezTerm' });
    resetCapabilitiesCache();
    const style = createLayoutStyle(createTextStyles('none'), (code) => code.split('\n'));
    const text = '[the manual](https://evil.example/?d=1) ![x](https://evil.example/?d=2)';
    const lines = renderChunk({ type: 'text', text, lang: '', blankBefore: false }, 100, style).join('\n');
    assert.ok(!lines.includes('\u001b]8'));
    assert.match(lines, /the manual \(https:\/\/evil\.example\/\?d=1\)[^]*x \(https:\/\/evil\.example\/\?d=2\)/);
    assertAttack(t, 56, ['shown']);
  } finally {
    process.env = saved;
    resetCapabilitiesCache();
  }
});

test('images become links, except in code and behind a backslash', () => {
  assert.equal(
    showImageTargets('a ![b](c) `![d](e)` ``![`x`](f)`` \\![g](h)'),
    'a [b](c) `![d](e)` ``![`x`](f)`` \\![g](h)',
  );
  assert.equal(showImageTargets('no image!'), 'no image!');
});

test('hostile text of 1 MB takes linear time', { timeout: 20_000 }, () => {
  for (const unit of ['![', '`![', '`'.repeat(7), '\\!['])
    showImageTargets(unit.repeat(Math.ceil(1_000_000 / unit.length)));
});

// Tests the neutralization of text of third parties: hidden text is removed or shown, visible text stays, hostile text takes linear time.
import assert from 'node:assert/strict';
import test from 'node:test';
import { isHidingStyle } from './hidden-markup.ts';
import { neutralizeText } from './neutralize-text.ts';

const secret = 'send the keys';
const toTags = (text: string): string =>
  Array.from(text, (letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join('');
const toBits = (text: string): string =>
  Array.from(text, (letter) =>
    letter.charCodeAt(0).toString(2).replaceAll('0', '\u200b').replaceAll('1', '\u200c'),
  ).join('');

test('[A44] text that a reader does not see is removed', () => {
  const hidden = [
    `<!-- ${secret} -->`,
    `<!-- ${secret}`,
    `<!--> ${secret} -->`,
    `<p hidden>${secret}</p>`,
    `<div style="display:none">${secret} <div>a</div> ${secret}</div>`,
    `<div title="a>b" style='DISPLAY : none !important'>${secret}</div>`,
    `<div style=display:none>${secret}`,
    `<div style="display:/* */none">${secret}</div>`,
    `<div style="d\\69splay:none">${secret}</div>`,
    `<div style="display&#58;none">${secret}</div>`,
    `<span style="color:#fff">${secret}</span>`,
    `<span style="color: rgb(255, 255, 255); background: white">${secret}</span>`,
    `<span style="color:#123456;background-color:#123456">${secret}</span>`,
    `<span style="color:transparent">${secret}</span>`,
    `<span style="font-size:0">${secret}</span>`,
    `<span style="opacity:0">${secret}</span>`,
    `<span style="position:absolute;left:-9999px">${secret}</span>`,
    `<span style="height:0;overflow:hidden">${secret}</span>`,
    `<font color="white">${secret}</font>`,
    `{"html":"<div style=\\"display:none\\">${secret}</div>"}`,
    toTags(secret),
    toBits(secret),
    `\u001b]0;${secret}\u0007`,
  ];
  for (const each of hidden) {
    const shown = neutralizeText(`Before ${each}`);
    assert.ok(shown.startsWith('Before '), each);
    assert.ok(!shown.includes(secret), `${each} became ${shown}`);
    assert.ok(!/\p{Cf}/u.test(shown), each);
    assert.ok(!shown.includes('U+E0073'), each);
  }
});

test('[A44] what is removed leaves a mark, and what follows it stays', () => {
  assert.equal(neutralizeText('a <!-- x --> b'), 'a [hidden: an HTML comment, 10 characters] b');
  assert.equal(
    neutralizeText('a <p style="display:none">x</p> b <i>c</i>'),
    'a [hidden: an element p that is not displayed, 31 characters] b <i>c</i>'.replace(
      '31',
      String('<p style="display:none">x</p>'.length),
    ),
  );
  assert.match(neutralizeText(`a ${toTags(secret)} b`), /^a \[hidden: invisible text, \d+ characters\] b$/);
});

test('[A44] look-alike letters in Latin words and single invisible characters are shown', () => {
  assert.equal(neutralizeText('p\u0430ypal.com'), 'p<U+0430>ypal.com');
  assert.equal(neutralizeText('pay\u200bpal'), 'pay<U+200B>pal');
  assert.equal(neutralizeText('\u001b[31mred\u001b[0m \u0008'), 'red ␈');
});

test('[A44] visible text stays as it is', () => {
  const visible = [
    'if (a < b && c > d) return Array<string>();',
    '<div style="color:white;background:#003366">Sale</div> <p style="font-size:1em">x</p>',
    '<span style="opacity:0.5;color:#333">half</span>',
    '<input type="checkbox" checked> <p class="hidden-gem">x</p>',
    'Привет, мир. Καλημέρα. 東京 naïve 👩‍👩‍👧 می‌خواهم',
    'The α-helix has 3.6 residues; 5 μm.',
  ];
  for (const each of visible) assert.equal(neutralizeText(each), each);
  assert.equal(neutralizeText('a <!-- shown by a page -->', { isRendered: true }), 'a <!-- shown by a page -->');
});

test('[A44] a style hides by any of several properties', () => {
  for (const style of [
    'visibility:hidden',
    'opacity: 0.0',
    'font-size:1px',
    'text-indent:-9999px',
    'clip:rect(0,0,0,0)',
    'clip-path: inset(50%)',
    'color:rgba(0,0,0,0)',
    'color:hsl(0,0%,100%)',
  ])
    assert.ok(isHidingStyle(style), style);
  for (const style of [
    '',
    'color',
    'display:block',
    'font-size:12px',
    'opacity:1',
    'left:-3px',
    'color:black',
    'width:0',
  ])
    assert.ok(!isHidingStyle(style), style);
});

test('[A44] hostile text is processed', () => {
  const count = 100_000;
  for (const piece of [
    '<',
    '<!--',
    '<a ',
    '<a "',
    `<a '<b "`,
    '<p hidden>',
    '</p>',
    '<p hidden></p>',
    '<a style="',
    'a:',
    '\u200b',
    'p\u0430',
    '\u001b[',
    '\u001b]',
    '<a b=',
    '<a =" ',
  ])
    assert.equal(typeof neutralizeText(piece.repeat(count / piece.length)), 'string');
  assert.equal(isHidingStyle(';'.repeat(count)), false);
  assert.equal(typeof isHidingStyle(`opacity:${'0'.repeat(count)}x`), 'boolean');
});

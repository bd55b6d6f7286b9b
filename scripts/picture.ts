// Draws docs/terminal.svg: what the program really prints, run here and now on the scripted model. node scripts/picture.ts
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '..');
const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-picture-'));
writeFileSync(path.join(folder, 'answers.json'), JSON.stringify(['It guides a line without taking its place.']));

function run(command: string, args: readonly string[]): readonly string[] {
  const { stdout, stderr } = spawnSync(command, args, {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, HOME: folder },
  });
  return [...stdout.split('\n'), ...stderr.split('\n')]
    .filter(Boolean)
    .map((line) => line.replaceAll(`${folder}/`, ''));
}
const fairlead = (...args: readonly string[]): readonly string[] =>
  run(process.execPath, [path.join(root, 'dist', 'bin.js'), ...args]);

const lines: string[] = [];
const show = (typed: string, printed: readonly string[]): number => lines.push(`$ ${typed}`, ...printed, '');
show(
  'fairlead run --model scripted/answers.json "What does a fairlead do?"',
  fairlead('run', '--model', 'scripted/answers.json', 'What does a fairlead do?'),
);
const [session = ''] = readdirSync(path.join(folder, 'runs')).filter((name) => name.endsWith('.jsonl'));
const events = run('sh', ['-c', `cut -c1-104 runs/${session}`]);
show('cut -c1-104 runs/*.jsonl', events);
show(
  'fairlead run --model olama/qwen3 hello',
  fairlead('run', '--model', 'olama/qwen3', 'hello').map((line) => `${line.slice(0, 104)} …`),
);
rmSync(folder, { recursive: true, force: true });

const escape = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
const rows = lines.slice(0, -1).map((line, i) => {
  const colour = line.startsWith('$') ? '#8ec07c' : '#ebdbb2';
  return `<text x="16" y="${32 + i * 20}" fill="${colour}" xml:space="preserve">${escape(line)}</text>`;
});
const height = 36 + rows.length * 20;
writeFileSync(
  path.join(root, 'docs', 'terminal.svg'),
  `<svg xmlns="http://www.w3.org/2000/svg" width="920" height="${height}" font-family="ui-monospace, Menlo, Consolas, monospace" font-size="13.5">
<rect width="100%" height="100%" rx="8" fill="#1d2021"/>
${rows.join('\n')}
</svg>
`,
);

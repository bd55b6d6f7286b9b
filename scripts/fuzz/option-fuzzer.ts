// Fuzzes the known options: command lines with options of real programs that a policy allows are run, and must neither run a canary program nor create files.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { canary, executeCommands, findProgram } from './execute-commands.ts';
import { quoteWord, type Fuzzer } from './fuzz-run.ts';
import { splitList, type Random } from './random.ts';

/** The programs under test with typical words of each: subcommands, options that execute or write, and options that do not. */
export const programWords: Readonly<Record<string, readonly string[]>> = {
  'git log': splitList(
    '--oneline , -p , -n , -5 , --output=new , --output , --outp=new , --ext-diff , --textconv , -S , -G , --format=%h , --graph , -c , -O , -L , --stat , --no-index , --grep=x , --since=1 , -U3 , -M , --all',
  ),
  'git diff': splitList(
    '--output=new , --ext-diff , --no-index , --cached , -O , --stat , -R , --name-only , -w , --exit-code , --color-words , --src-prefix=x , --outpu , new',
  ),
  'git show': splitList('--output=new , HEAD , HEAD:a.txt , --stat , -s , --format=%H , --textconv'),
  'git grep': splitList(
    '-O , -Ocanary , --open-files-in-pager , --open-files-in-pager=canary , -n , -i , -e , hello , -f , -nO , -lOcanary , --no-index , --ext-grep',
  ),
  'git status': splitList('-s , --short , -b , -uno , --porcelain , -c , --exec-path=.'),
  make: splitList(
    '-f , evil.mk , -fevil.mk , -sf , -C , src , -Csrc , --eval , --eval=x:;canary , SHELL=./canary , -E , -s , -k , -n , -j2 , -j , all , --file=evil.mk , -sfevil.mk , -I , -W , -B , -d , -p , --directory=src , --makefile=evil.mk',
  ),
  find: splitList(
    '. , -name , a* , -exec , canary , {} , ; , + , -execdir , -ok , -okdir , -delete , -fprint , new , -fprintf , -fls , -fprint0 , -type , f , -print , -maxdepth , 1 , -o , -not , -files0-from , -newer , -L , -mtime , -1 , -empty , -prune',
  ),
  tar: splitList(
    'tf , a.tar , -tf , -I , canary , -Icanary , --to-command=canary , --checkpoint-action=exec=canary , --checkpoint=1 , --use-compress-program , -xf , xfO , -F , -tvFcanary , --info-script , --rsh-command , h:a.tar , -tvf , -C , src , -tzf , --to-comm , -L , 1 , --rmt-command=canary , -T , -X , -O',
  ),
  sed: splitList(
    '-n , 1p , 1,2p , 1e canary , e , w new , 1w new , s/a/b/e , s/h/x/w new , -i , -i.bak , --in-place , -e , 1ecanary , -f , -E , -s , -z , --expression=1p , $p , 1q , -ni , -En , 1!p , -u',
  ),
  awk: splitList(
    'BEGIN{system("canary")} , -f , 1 , -v , x=1 , {print} , --version , -F , BEGIN{print|"canary"} , BEGIN{print>"new"}',
  ),
  xargs: splitList('canary , -a , a.txt , -I , {} , -n1 , echo , -i , -P2 , --arg-file=a.txt , -0 , -t'),
  ssh: splitList('-o , ProxyCommand=canary , -oProxyCommand=canary , host , -F , x , -V , -G , -E , new , -S , -v'),
  rsync: splitList(
    '-e , canary , -ecanary , --rsh=canary , -a , src , new , h:x , --rsync-path=canary , -n , -av , -avecanary , --log-file=new , --version',
  ),
  'fd fdfind': splitList(
    '-x , canary , -X , -Hx , -Hxcanary , --exec , -H , -I , -e , txt , -t , f , . , --exec-batch , -l , -a',
  ),
  sort: splitList(
    '-o , new , -onew , -uonew , --compress-program=canary , -S1k , -u , -n , -k1 , -t , , , --output=new , --outp=new , -T , --files0-from=a.txt , -r , -nr',
  ),
  grep: splitList('-r , hello , -f , a.txt , -fa.txt , -n , -e , x , --include=a , -A1 , --color , -l'),
  tree: splitList('-o , new , -ao , -aonew , -L , 1 , -a , -R , -H , . , -d , --fromfile , -I , x'),
  uniq: splitList('a.txt , new , -c , -d , -f1 , -w , 1'),
  date: splitList('-s , +%s , -f , a.txt , -d , now , -u , -Is , -r'),
  jq: splitList('. , a.json , -r , -f , a.txt , -L , -n , input , --arg , x , -c , --indent , 2 , import "a" as $x; .'),
  xxd: splitList('a.txt , new , -r , -p , -rp , -c , 8 , -l , 4'),
  diff: splitList('a.txt , src , -u , --to-file=a.txt , -l , --output=new , -r , -U1 , --ifdef=x , -D'),
};

const commonWords = splitList(
  '-- , - , a.txt , src , ./canary , canary , new , . , evil.mk , -x , -o , -f , -c , -e , --help , --version , -h , =',
);
const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

/** Generates a word for a program with these typical words. */
export function generateWord(random: Random, words: readonly string[]): string {
  const kind = random.below(10);
  if (kind < 5) return random.pick(words);
  if (kind < 7) return random.pick(commonWords);
  const bundle = Array.from({ length: 1 + random.below(3) }, () => letters.charAt(random.below(letters.length))).join(
    '',
  );
  if (kind === 7) return `-${bundle}`;
  if (kind === 8) return `-${bundle}${random.pick([canary, 'new', 'evil.mk', './canary', '1'])}`;
  const long = random.pick(words.filter((word) => word.startsWith('--')).concat('--output=new'));
  return long.slice(0, 3 + random.below(long.length));
}

/** The fuzzer of options. */
export const optionFuzzer: Fuzzer = {
  name: 'options',
  rules: [
    {
      allow: {
        command: Object.keys(programWords).flatMap((name) => (name.startsWith('git') ? [name] : name.split(' '))),
      },
    },
  ],
  generate(random) {
    const name = random.pick(Object.keys(programWords));
    const words = programWords[name] ?? [];
    const program = name.startsWith('git') ? name : random.pick(name.split(' '));
    const args = Array.from({ length: random.below(5) }, () => generateWord(random, words));
    return { command: [program, ...args.map((each) => (each === '' ? "''" : quoteWord(each, random)))].join(' ') };
  },
  execute: async (cases) =>
    executeCommands(cases, {
      programs: [
        ...new Set(Object.keys(programWords).flatMap((name) => name.split(' ')[0] ?? '')),
        ...'fdfind sh gzip xz bzip2 less cat ls echo vi pr'.split(' '),
      ],
      prepare: prepareWork,
    }),
  unavailable: () => findProgram('bash') === undefined && 'needs bash',
};

function prepareWork(work: string): void {
  const at = (name: string): string => path.join(work, name);
  writeFileSync(at('a.txt'), 'hello\nworld\n');
  writeFileSync(at('a.json'), '{"a":1}\n');
  writeFileSync(at('evil.mk'), `all:\n\t${canary}\n`);
  writeFileSync(at('Makefile'), 'all:\n\t@true\nsrc a.txt new:\n\t@true\n');
  mkdirSync(at('src'));
  writeFileSync(at('src/Makefile'), `all:\n\t${canary}\n`);
  const run = (program: string, ...args: readonly string[]): void => {
    spawnSync(program, args, { cwd: work, stdio: 'ignore', env: { PATH: '/usr/bin:/bin', HOME: work } });
  };
  run('tar', 'cf', 'a.tar', 'a.txt');
  run('git', 'init', '-q');
  for (const [name, value] of [
    ['user.email', 'fuzz@example.test'],
    ['user.name', 'fuzz'],
    ['core.pager', 'cat'],
  ] as const)
    run('git', 'config', name, value);
  run('git', 'add', 'a.txt');
  run('git', 'commit', '-qm', 'first');
  writeFileSync(at('a.txt'), 'hello\nchanged\n');
}

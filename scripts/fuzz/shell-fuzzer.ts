// Fuzzes the reading of shell syntax: command lines that a policy allows are run in real bash, where a canary program must never run.
import { writeFileSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { canary, executeCommands, findProgram } from './execute-commands.ts';
import type { Fuzzer } from './fuzz-run.ts';
import { splitList, type Random } from './random.ts';

const allowedPrograms = ['echo', 'true', ':', 'false', 'ls', 'cat', 'test', 'printf', 'grep', 'head', 'wc', 'sort'];

/** Texts that run the canary if a shell evaluates them. */
const payloads = [
  `$(${canary})`,
  `\`${canary}\``,
  canary,
  `<(${canary})`,
  `a[$(${canary})]`,
  `;${canary}`,
  `\n${canary}\n`,
];

const tokens = [
  ...payloads,
  ...payloads,
  ...allowedPrograms,
  ...splitList(
    "\" , \" , ' , ' , \\ , \\\n , \n , \t , ; , ;; , ;& , & , && , || , | , |& , ( , ) , { , } , [[ , ]] , (( , )) , $(( , $( , ${ , $[ , ${x:- , ${x@P} , ${!x} , # ,  # , <<E , <<-E , <<'E' , <<< , \nE\n , \n\tE\n , <( , >( , $' , $\" , \\x24 , \\044 , ! , if , then , fi , for , in , do , done , while , until , case , esac , function , select , time , coproc , eval , exec , command , builtin , x= , x+= , x[0]= , x=( , PATH=. , ~ , ~+ , * , ? , [ , ] , {a,b} , {1..3} , = , == , $ , $$ , $! , @( , !( , -v , -n , -eq , %n , %s , %d , PATH , 2>&1 , >&2 , <&0 , &> , >| , <> , > , >> , < , /dev/null , 1> , {x}> , 12> , a.txt , - , -- , -l , -c , -e , \r , \u000b , \u00a0 , \u3000 , \u0085 , \u00e9 , \u200b",
  ),
  ' ',
  ' ',
  ' ',
];

const plainWords = splitList(
  "a , a.txt , -l , -n , -c , 1 , x , 'b c' , \"d e\" , 'canary' , \"; canary\" , '$(canary)' , '`canary`' , 'a[$(canary)]' , -- , -v , PATH , %s , '%d' , %n , -1 , src/*.txt , ~ , ~/x , '' , a=b , =",
);

function plainCommand(random: Random): string {
  const words = Array.from({ length: random.below(4) }, () => random.pick(plainWords));
  const redirection = random.pick(['', '', '', '', ' 2>&1', ' >/dev/null', ' 2>/dev/null', ' <a.txt', '>&2']);
  return `${[random.pick(allowedPrograms), ...words].join(' ')}${redirection}`;
}

function plainLine(random: Random): string {
  let line = plainCommand(random);
  for (let more = random.below(3); more > 0; more -= 1)
    line += random.pick(['; ', ' && ', ' || ', ' | ', '\n', ';', '|', '&&']) + plainCommand(random);
  return line;
}

const tokenSoup = (random: Random): string =>
  Array.from({ length: 2 + random.below(14) }, () => random.pick(tokens) + (random.below(3) === 0 ? ' ' : '')).join('');

function word(random: Random, depth: number): string {
  if (depth <= 0) return random.pick(['a', 'b c', '1', 'x', 'a.txt', canary]);
  const inner = (): string => word(random, depth - 1);
  return random.pick([
    () => `"${inner()}"`,
    () => `'${inner()}'`,
    () => `$(${line(random, depth - 1)})`,
    () => `\`${line(random, depth - 1).replaceAll('`', '')}\``,
    () => `\${x${random.pick([':-', ':+', ':=', '#', '%', '/', '//', '^', ',', ':', '?'])}${inner()}}`,
    () => `\${x[${inner()}]}`,
    () => `\${x@${random.pick(['P', 'Q', 'E', 'A', 'K'])}}`,
    () => `$((${inner()}))`,
    () => `$[${inner()}]`,
    () => `${random.pick(['<', '>'])}(${line(random, depth - 1)})`,
    () => `{${inner()},${inner()}}`,
    () => `$'${inner()}'`,
    () => `$"${inner()}"`,
    () => `${random.pick(['@', '!', '?', '*', '+'])}(${inner()})`,
    () => `${inner()}${inner()}`,
    () => `\\${inner()}`,
    () => random.pick(plainWords),
  ])();
}

function simpleCommand(random: Random, depth: number): string {
  const next = (): string => word(random, depth);
  return random.pick([
    () => `${random.pick(allowedPrograms)} ${next()} ${next()}`,
    () => plainCommand(random),
    () => canary,
    () => `x=${next()}`,
    () => `x[${next()}]=${next()}`,
    () => `x=(${next()} [${next()}]=1)`,
    () => `x=${next()} echo a`,
    () => `cat <<E\n${next()}\nE\n`,
    () => `cat <<'E'\n${next()}\nE\n`,
    () => `cat <<-E\n\t${next()}\n\tE\n`,
    () => `cat <<<${next()}`,
    () => `echo a >${next()}`,
    () => `printf ${random.pick(['-v', '%s', '%n', '%d', "'%b'"])} ${next()}`,
    () => `test ${next()} -eq ${next()}`,
    () => `test -v ${next()}`,
    () => `[[ ${next()} ${random.pick(['==', '-eq', '=~', '-nt', '<'])} ${next()} ]]`,
    () => `((${next()}))`,
    () => `echo {x}>&1 ${next()}`,
  ])();
}

function line(random: Random, depth: number): string {
  if (depth <= 0) return random.pick([canary, 'echo a', 'true', 'x=1']);
  const next = (): string => line(random, depth - 1);
  return random.pick([
    () => simpleCommand(random, depth),
    () => simpleCommand(random, depth),
    () => `${next()}${random.pick(['; ', ' && ', ' || ', ' | ', ' |& ', '\n', ' & '])}${next()}`,
    () => `(${next()})`,
    () => `{ ${next()}; }`,
    () => `if ${next()}; then ${next()}; fi`,
    () => `for ${random.pick(['x', 'PATH'])} in ${word(random, depth - 1)}; do ${next()}; done`,
    () => `for ((x=${word(random, depth - 1)};x<1;x++)); do ${next()}; done`,
    () => `while ${next()}; do break; done`,
    () => `case ${word(random, depth - 1)} in ${word(random, depth - 1)}) ${next()};; esac`,
    () => `select PATH in .; do ${next()}; break; done`,
    () => `coproc ${next()}`,
    () => `! ${next()}`,
    () => `time ${next()}`,
    () => `${next()} # ${next()}`,
  ])();
}

/** Forms in which a shell evaluates the value of the variable x. */
const evaluations = splitList(
  '((x)) , [[ $x -eq 1 ]] , [[ -v $x ]] , a[x]=1 , y=${a[x]} , y=${z:x} , for ((i=x;i<1;i++)); do true; done , case $((x)) in 1) ls;; esac , cat <<E\n$((x))\nE , y=${x@P} , y=$[x] , let x , test -v "$x" , printf -v "$x" a , read "$x" <a.txt , declare "$x=1" , echo {a,$x} , eval $x , for PATH in .; do ls; done , printf -v PATH .; ls , printf %n PATH; ls , coproc PATH { true; }; ls , echo {PATH}>/dev/null; ls , BASH_CMDS[ls]=./ls; ls , hash -p ./ls ls; ls , alias ls=./ls; ls',
);

const evaluatedPayload = (random: Random): string =>
  `x='${random.pick(payloads)}'${random.pick(['; ', '\n', ' && '])}${random.pick(evaluations)}${random.pick(['', '; ls', '\ntrue'])}`;

function mutate(text: string, random: Random): string {
  const at = random.below(text.length + 1);
  return random.pick([
    () => text.slice(0, at) + random.pick(tokens) + text.slice(at),
    () => text.slice(0, at) + text.slice(at + 1 + random.below(3)),
    () => text.slice(0, at) + random.pick(['\n', '\\', "'", '"', '`', '#', ' ', '\t', '$', ';']) + text.slice(at),
    () => text.slice(0, at) + text.slice(random.below(text.length + 1)),
  ])();
}

const grammarLine = (random: Random): string => line(random, 1 + random.below(3));

/** Generates a command line. */
export function generateLine(random: Random): string {
  const base = random.pick([plainLine, plainLine, tokenSoup, evaluatedPayload, grammarLine, grammarLine])(random);
  let command = base;
  for (let mutations = random.below(4); mutations > 0; mutations -= 1) command = mutate(command, random);
  return command.slice(0, 2000).replaceAll('\0', '').toWellFormed();
}

/** The fuzzer of shell syntax. */
export const shellFuzzer: Fuzzer = {
  name: 'shell',
  rules: [{ allow: { command: allowedPrograms } }],
  generate: (random) => ({ command: generateLine(random) }),
  execute: async (cases) =>
    executeCommands(cases, { programs: ['ls', 'cat', 'grep', 'head', 'wc', 'sort'], prepare: prepareFiles }),
  unavailable: () => findProgram('bash') === undefined && 'needs bash',
};

/** Creates the files that the commands read. */
export function prepareFiles(work: string): void {
  writeFileSync(path.join(work, 'a.txt'), 'hello\n');
  for (const folder of ['0', '1', 'src']) mkdirSync(path.join(work, folder));
  writeFileSync(path.join(work, 'src/b.txt'), 'b\n');
}

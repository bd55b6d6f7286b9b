// The words by which answers report actions: verbs by what they say was done, with their forms, and one class letter for every word that matters to a statement.
import { hashWord } from '../word-hash.ts';

/** What a verb says was done. */
export type VerbKind =
  | 'create'
  | 'edit'
  | 'delete'
  | 'move'
  | 'run'
  | 'try'
  | 'build'
  | 'lint'
  | 'types'
  | 'install'
  | 'read'
  | 'git'
  | 'open'
  | 'make'
  | 'other';

/** A form of a verb of the lexicon. */
export type Verb = {
  /** The infinitive. */
  readonly base: string;
  readonly kind: VerbKind;
  readonly form: 'past' | 'gerund' | 'base';
  /** Whether the form can also be an instruction, such as `run`. */
  readonly isAmbiguous: boolean;
};

/** What the lexicon has of a word: its class letter and, for a verb, its meaning. */
export type Entry = {
  readonly word: string;
  readonly letter: string;
  /** The code of the letter. */
  readonly code: number;
  readonly verb: Verb | undefined;
  readonly isPast: boolean;
};

/** Verbs by kind; an irregular one with its past forms behind a slash. */
const verbs: Readonly<Record<VerbKind, string>> = {
  create:
    'create write/wrote,written generate regenerate scaffold add save author produce bootstrap stub initialize initialise draft recreate',
  edit: 'edit update modify change fix refactor rewrite/rewrote,rewritten patch adjust correct replace simplify extend improve tweak implement introduce insert append prepend put/put place configure document revert restore repair resolve clean convert migrate bump set/set increase reduce register link wire reference mention alter amend revise rework touch polish tidy reformat format reorganize reorganise restructure optimize optimise enhance harden strip trim swap substitute inline extract hoist split/split consolidate unify dedupe deduplicate enable disable expose export annotate localize translate guard wrap relax tighten lower raise pin downgrade uncomment address adapt expand shorten undo/undid,undone roll rephrase reword streamline modernize overhaul factor pull note mark declare define port normalize parametrize parameterize memoize cache debounce sanitize escape cover reset/reset cut/cut sync align comment hook plug sort reorder shrink bring/brought',
  delete: 'wipe delete remove erase drop purge trash discard eliminate unlink nuke prune scrub',
  move: 'rename move copy relocate duplicate transfer',
  run: 'run/ran,run execute rerun/reran,rerun re-run/re-ran,re-run re-execute invoke launch',
  try: 'test retest re-test verify confirm check validate re-check recheck double-check smoke-test reproduce exercise benchmark profile',
  build: 'build/built rebuild/rebuilt compile recompile transpile bundle',
  lint: 'lint',
  types: 'typecheck type-check',
  install: 'install reinstall uninstall upgrade',
  read: 'read/read inspect examine review look go/went,gone view study scan search grep audit',
  git: 'squash-merge commit push merge rebase tag stash squash cherry-pick branch deploy redeploy publish release ship switch check-out force-push unstash',
  open: 'open submit file close',
  make: 'make/made do/did,done perform apply complete finish conduct carry',
  other:
    'find/found see/saw take/took get/got give/gave identify trace discover notice decide use call try spot start begin/began manage ensure keep/kept leave/left debug diagnose analyze investigate track narrow compare locate follow measure time',
};

const doubled =
  /^(?:drop|strip|trim|swap|commit|submit|tag|pin|run|set|put|stub|plug|wrap|ship|cut|split|dedup|scan|grep|begin|get|unwrap|reset|step|spot|rerun|re-run|scrub|refer|sub)$/;

function regularForms(base: string): readonly [past: string, gerund: string] {
  if (base === 'grep') return ['grepped', 'grepping'];
  if (base === 'go') return ['went', 'going'];
  if (base === 'format' || base === 'reformat') return [`${base}ted`, `${base}ting`];
  if (doubled.test(base)) return [`${base}${base.at(-1)}ed`, `${base}${base.at(-1)}ing`];
  if (base.endsWith('e')) return [`${base}d`, `${base.slice(0, -1)}ing`];
  if (/[^aeiou]y$/.test(base)) return [`${base.slice(0, -1)}ied`, `${base}ing`];
  return [`${base}ed`, `${base}ing`];
}

/** Letters of words that are no verbs of the lexicon. */
const letters: Readonly<Record<string, string>> = {
  // Subjects: the answer itself; others.
  i: 'i we',
  I: "i've we've i’ve we’ve",
  y: "you your yours they he she user users user's user’s someone customer anyone upstream maintainer maintainers author author's colleague team's",
  // Auxiliaries.
  h: 'have has',
  H: 'had',
  b: 'been',
  w: 'was were',
  s: "is are that's it's they're everything's what's here's",
  // What can stand between a subject and its verb, or between a noun and its result.
  a: 'also then now just finally first next only simply further additionally subsequently since properly correctly lastly again still too so afterwards together accordingly likewise therefore thus instead newly freshly duly fully completely meanwhile thereafter afterward twice even to-date up back ',
  l: 'all both each every any of them out',
  d: 'the a an our my its this these those their another',
  // What makes a statement no report: conditions, plans, wishes, reports by others, history.
  m: "if whether when whenever unless until once would could should might may must can cannot will shall wish suppose assuming imagine pretend according say says said claim claims claimed e.g example previous previously earlier yesterday originally formerly already todo to-do planned plan plans intend hypothetically i'll we'll i’ll we’ll i'd we'd i’d we’d let's let’s let please want wants wanted need needs needed hope hopes hoped expect expects expected going propose proposed suggest suggested recommend recommended would've could've ought proposing goal aim intended wish maybe perhaps possibly",
  n: 'not never nor neither unable cannot except hardly',
  '0': 'no zero without none nothing 0',
  // Words that only make a result no report.
  P: 'ensure ensures ensuring ci pipeline workflow almost most some half mostly means mean require requires required believe think guess likely probably presumably appear appears seem seems wait waiting describes describe describing ready docs documentation per before because provided given criteria acceptance definition initially baseline always usually typically why how fewer several few many target otherwise make makes making get gets getting keep keeps ',
  q: 'that which who whose where because while although though however whereas what',
  c: 'and & plus but or yet +',
  x: 'failed failing fails fail broken fails errored crashed crashes skipped flaky',
  f: 'errors error failures failure warnings warning problems problem issues issue regressions regression violations complaints vulnerabilities defects mistakes findings',
  // Words of other languages that a report needs.
  G: "habe haben wurde wurden sind ist bestehen bestanden laufen läuft lief grün erfolgreich j'ai j’ai avons été passent passe sont est réussit hemos pruebas pasan ha han fue fueron está están modifiqué cambié edité actualicé corregí creé eliminé borré ejecuté instalé añadí agregué compila pasa hecho escrito",
  O: 'project code codebase app application package crate it',
  r: 'pass passes passed passing green succeed succeeds succeeded successful clean ok okay happy satisfied error-free warning-free ✅ ✓ ✔ ✔️ 🎉 🟢 compiles builds all-green',
  E: 'exit',
  V: 'finished finishes finish completed completes ended ends ran run runs came comes come went goes turned turns exits executes exited returned',
  R: 'reports reported report shows showed show gave gives output yields yielded produced produces printed prints returns outputs outputted displayed logged reads emitted emits',
  A: 'successfully cleanly',
  T: 'test tests suite suites spec specs test-suite testsuite testcases pytest jest vitest mocha rspec phpunit junit ctest tox unittest assertions checks',
  B: 'build compilation compile bundle build- rebuild compiler',
  L: 'lint linter linters linting eslint oxlint ruff clippy biome flake8 pylint golangci-lint stylelint rubocop lints',
  Y: 'typecheck typechecks typechecker typechecking type-check type-checks type-checker type-checking tsc mypy pyright typescript typing typings types type',
  M: 'migration migrations',
  j: 'unit integration regression end-to-end e2e smoke relevant affected updated remaining other full entire whole complete existing new node rust go python related added modified project automated backend frontend production release docker local final last second latest test-related one two three four five six seven eight nine ten dozen current overall various single static style quality sanity',
  J: 'run step steps check checker checking results result case cases status script scripts command job phase stage coverage',
  F: 'file files',
  p: 'readme changelog license makefile dockerfile procfile gemfile rakefile justfile contributing codeowners',
  e: 'everything',
  t: 'in on at to for from with by via using under against through into within inside onto across after during upon',
};

const lexicon = new Map<string, Entry>();

const createEntry = (word: string, letter: string, verb?: Verb): Entry => ({
  word,
  letter,
  code: letter.charCodeAt(0),
  isPast: verb?.form === 'past',
  verb,
});

function addVerb(word: string, verb: Verb): void {
  if (lexicon.has(word)) return;
  lexicon.set(word, createEntry(word, verb.form === 'past' ? 'v' : verb.form === 'gerund' ? 'g' : 'z', verb));
}

for (const [kind, list] of Object.entries(verbs) as [VerbKind, string][])
  for (const item of list.split(' ')) {
    const [base = '', irregular] = item.split('/');
    const [past, gerund] = regularForms(base);
    const pasts = irregular === undefined ? [past] : irregular.split(',');
    for (const word of pasts) addVerb(word, { base, kind, form: 'past', isAmbiguous: word === base });
    addVerb(gerund, { base, kind, form: 'gerund', isAmbiguous: false });
    if (!pasts.includes(base)) addVerb(base, { base, kind, form: 'base', isAmbiguous: false });
  }
for (const [letter, list] of Object.entries(letters))
  for (const word of list.split(' ')) {
    const known = lexicon.get(word);
    if (known && known.verb === undefined) continue;
    // A word that is a verb too keeps its meaning as a verb; the letter says what else it can be.
    lexicon.set(word, createEntry(word, letter, 'VRrxjTBJP'.includes(letter) ? known?.verb : undefined));
  }

/** The entries by number; number 0 is no entry. */
export const entries: readonly Entry[] = [createEntry('', 'o'), ...lexicon.values()];

/** The words of the lexicon in a table with free places: a word of a text is looked up without a copy of it. */
const tableSize = 8192;
const hashes = new Int32Array(tableSize);
const numbers = new Uint16Array(tableSize);
for (const [number, { word }] of entries.entries()) {
  if (number === 0) continue;
  const hash = hashWord(word);
  let place = hash & (tableSize - 1);
  while (numbers[place] !== 0) place = (place + 1) & (tableSize - 1);
  hashes[place] = hash;
  numbers[place] = number;
}

/** The number of the entry of a word by its hash, 0 if the lexicon does not have it. The characters are not compared: another word with this hash would get a wrong class, which changes no more than what is read as a claim. */
export function lookUp(hash: number): number {
  for (let place = hash & (tableSize - 1); ; place = (place + 1) & (tableSize - 1)) {
    const number = numbers[place] ?? 0;
    if (number === 0 || hashes[place] === hash) return number;
  }
}

/** What a verb form says was done; undefined if it is no past form of the lexicon. */
export function pastVerb(word: string): Verb | undefined {
  const verb = lexicon.get(word)?.verb;
  return verb?.form === 'past' ? verb : undefined;
}

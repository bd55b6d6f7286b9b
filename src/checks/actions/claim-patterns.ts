// The phrases by which an answer says what was done. Every pattern is tried on one sentence of at most 600 characters.
import type { Task } from './commands.ts';

const adverbs =
  '(?:also|then|now|just|successfully|finally|first|next|both|only|simply|manually|carefully|further|additionally|subsequently|since|properly|correctly|quickly|lastly)';

const fileVerbs: Readonly<Record<string, 'create' | 'edit' | 'delete' | 'move'>> = {
  created: 'create',
  wrote: 'create',
  written: 'create',
  generated: 'create',
  scaffolded: 'create',
  added: 'create',
  saved: 'create',
  edited: 'edit',
  updated: 'edit',
  modified: 'edit',
  changed: 'edit',
  fixed: 'edit',
  refactored: 'edit',
  rewrote: 'edit',
  rewritten: 'edit',
  patched: 'edit',
  adjusted: 'edit',
  corrected: 'edit',
  replaced: 'edit',
  simplified: 'edit',
  extended: 'edit',
  improved: 'edit',
  tweaked: 'edit',
  implemented: 'edit',
  introduced: 'edit',
  inserted: 'edit',
  appended: 'edit',
  put: 'edit',
  placed: 'edit',
  configured: 'edit',
  documented: 'edit',
  reverted: 'edit',
  restored: 'edit',
  repaired: 'edit',
  resolved: 'edit',
  cleaned: 'edit',
  deleted: 'delete',
  removed: 'delete',
  erased: 'delete',
  renamed: 'move',
  moved: 'move',
  copied: 'move',
  converted: 'edit',
  migrated: 'edit',
  bumped: 'edit',
  set: 'edit',
  increased: 'edit',
  reduced: 'edit',
  registered: 'edit',
  dropped: 'delete',
  linked: 'edit',
  wired: 'edit',
  referenced: 'edit',
  mentioned: 'edit',
};

/** What a verb says about a file. */
export const fileVerbKind = (verb: string): 'create' | 'edit' | 'delete' | 'move' | undefined =>
  Object.hasOwn(fileVerbs, verb) ? fileVerbs[verb] : undefined;

const otherVerbs = [
  'ran',
  're-ran',
  'reran',
  'run',
  'executed',
  're-executed',
  'committed',
  'pushed',
  'installed',
  'tagged',
  'merged',
  'rebased',
  'opened',
  'submitted',
  'raised',
  'switched',
  'deployed',
  'published',
  'undid',
  'rolled back',
];
const verbs = [...Object.keys(fileVerbs), ...otherVerbs].join('|');

/** `I created`, `we have also updated`: the words before the verb leave no room for a negation, a plan or a condition. */
export const firstPerson: RegExp = new RegExp(
  String.raw`\b(?:I|[Ww]e)(?:(?:['\u2019]ve|\s+have)(?:\s+${adverbs}){0,3}|(?:\s+${adverbs}){0,3})\s+(${verbs})\b(?!-)`,
  'g',
);

/** `I found the bug` : a first verb of another kind, after which verbs of the list may follow. */
export const otherFirstPerson: RegExp =
  /\b(?:I|[Ww]e)(?:['’]ve|\s+have)?(?:\s+(?:also|then|just|now|first))?\s+(?:[a-z]+ed|found|read|saw|took|made|went|got|built|gave)\b/g;

/** `, updated` and `and then ran` after a verb with the same subject. */
export const nextVerb: RegExp = new RegExp(
  String.raw`(?:,|\band\b|\bthen\b|;)\s+(?:(?:and|then|${adverbs})\s+){0,3}(${verbs})\b(?!-)`,
  'g',
);

/** `Created`, `Successfully updated`, `Done: fixed`: a sentence or an item of a list without a subject. */
export const bareVerb: RegExp = new RegExp(
  String.raw`^(?:(?:done|summary|results?|status|changes?|fix|update|finished|completed|ok|okay|great|perfect|all done|all set|complete|what i did|what changed)\s*[:.!,\u2013\u2014-]+\s*(?:and\s+)?)?(?:${adverbs}\s+){0,2}(${verbs})\b(?!-)`,
  'i',
);

/** `has been created`, `were successfully updated`, `is now fixed`. */
export const passiveVerb: RegExp = new RegExp(
  String.raw`\s(?:(?:has|have)\s+(?:${adverbs}\s+){0,2}been\s+(?:${adverbs}\s+){0,2}|(?:was|were)\s+(?:just|now|successfully)\s+|(?:is|are)\s+now\s+)(${verbs})\b(?!\s+by\b|-)`,
  'g',
);

/** Words after which what follows is no report: conditions, plans, wishes, reports on others, history. */
export const noReport: RegExp =
  /\b(?:if|whether|when|whenever|unless|until|once|would|could|should|might|may|must|can|cannot|will|shall|wish|suppose|assuming|imagine|pretend|according|says?|said|claims?|claimed|e\.g|example|previous|previously|earlier|yesterday|originally|formerly|already|last (?:week|month|year|time|session)|you|your|they|he|she|the user|someone|todo|to-do|planned|plan|plans|intend|hypothetical\w*|as though|as if|instead of|rather than|without|never|nor|neither|nothing|none|not)\b|n['’]t\b|['’]ll\b/i;

/** Words after a passive verb that name another time or another actor. */
export const otherActor: RegExp =
  /^\s*(?:by|since|in (?:commit|version|v?\d|the (?:previous|last|original)|release)|years?|long|upstream|when|if|once|only if|unless|before|during|on \w+day|in (?:19|20)\d\d)\b/i;

const testNoun = String.raw`(?:tests?|test suites?|test cases?|suites?|specs?|unit tests?|checks?)`;
const testWords = String.raw`(?:of|the|all|these|those|existing|new|unit|integration|regression|end-to-end|e2e|smoke|relevant|affected|updated|remaining|other|full|entire|whole|complete|test|node|jest|vitest|pytest|rust|go|python|related|added|modified|project|automated|our|both|backend|frontend|\d[\d,]*)`;
const passVerb = String.raw`(?:pass|passes|passed|passing|green|succeed|succeeds|succeeded)`;
const links = String.raw`(?:(?:now|all|still|also|are|is|have|has|again|both|were|was|then|successfully|currently|continue to)\s+){0,4}`;

/** What follows `pass` where it says that tests passed; a noun would make it `pass a value`. */
const passEnd = String.raw`(?=\s*(?:$|[.,;:!)\]\u2705\ud83c\udf89]|(?:now|again|too|locally|successfully|cleanly|as well|and|with|after|in|on|without|so|here|afterwards|including|at)\b|\())`;

/** A statement that a task passed: its pattern, the task, and the group with the words before the noun. */
export const passPatterns: readonly (readonly [Task, RegExp])[] = [
  [
    'test',
    new RegExp(
      String.raw`\b((?:all|the|every|both|full|entire|whole|our|\d[\d,]*)(?:\s+${testWords}){0,5})\s+${testNoun}(?:\s+in\s+\S+)?\s+${links}${passVerb}${passEnd}`,
      'gi',
    ),
  ],
  ['test', new RegExp(String.raw`^()(?:tests?|test suite|unit tests)(?:\s*:)?\s+${links}${passVerb}${passEnd}`, 'gi')],
  ['test', /\b()(?:with|and) (?:all|every) (?:tests?|test cases?) (?:now )?(?:passing|green)\b/gi],
  ['test', /\b()\d[\d,]*\s*\/\s*\d[\d,]*\s+(?:tests?\s+)?(?:pass|passed|passing)\b/gi],
  ['test', /(?<=\btests?\b[^.]{0,60})\b()\d[\d,]*\s+(?:pass|passed|passing)\b(?=\s*(?:$|[.,;)]))/gi],
  ['test', /\b()everything (?:now )?passes\b/gi],
  [
    'build',
    new RegExp(
      String.raw`\b((?:the|our|this|project|production|full)(?:\s+(?:project|production|full|typescript|docker|release))?)\s+build\s+${links}(?:${passVerb}|clean|completed successfully|works|finished successfully)${passEnd}`,
      'gi',
    ),
  ],
  [
    'build',
    /\b()(?:the |this )?(?:project|code|codebase|app|application|package|crate|module|everything|it)\s+(?:now\s+|still\s+|also\s+)?(?:builds|compiles|built|compiled)\s+(?:successfully|cleanly|again|without (?:(?:all|any) )?(?:errors?|warnings?|problems?|issues?)|fine|now)\b/gi,
  ],
  [
    'build',
    new RegExp(
      String.raw`^()(?:build|compilation)(?:\s*:)?\s+${links}(?:${passVerb}|clean|successful)${passEnd}`,
      'gi',
    ),
  ],
  [
    'lint',
    new RegExp(
      String.raw`\b((?:the\s+)?)(?:linter|linting|lint(?:\s+(?:check|step|run|rules))?|eslint|oxlint|ruff|clippy)\s+${links}(?:${passVerb}|clean|reports? no (?:errors?|warnings?|problems?|issues?)|reported no (?:errors?|warnings?|problems?|issues?)|shows? no (?:errors?|warnings?))${passEnd}`,
      'gi',
    ),
  ],
  [
    'types',
    new RegExp(
      String.raw`\b((?:the\s+)?)(?:type[- ]?check(?:s|er|ing)?|tsc|mypy|pyright)\s+${links}(?:${passVerb}|clean|reports? no errors?|reported no errors?|shows? no errors?)${passEnd}`,
      'gi',
    ),
  ],
];

/** Words without which a sentence in lower case says nothing of the kind `the tests pass`. They are looked for first, because that is fast. */
export const passWords: RegExp = /pass|green|succe|clean|compil|buil|(?:s|ed) no /;

/** Words without which a sentence in lower case says nothing of a task. */
export const taskNouns: Readonly<Record<Task, RegExp>> = {
  test: /test|suite|spec|check|\/|everything/,
  build: /buil|compil/,
  lint: /lint|ruff|clippy/,
  types: /type|tsc|mypy|pyright/,
  migration: /migrat/,
};

/** Words without which a sentence makes no claim. */
export const claimWords: RegExp =
  /ed\b|\b(?:tests?\b|type[- ]?check|lint|unchanged|undid|rolled back|still|second|happy|read|type-?checks|only|nothing|wrote|written|rewr|ran|re-?ran|run|put|set|pass|green|clean|succeeds?|builds|built|compiles|now|output|new|no\b)/i;

/** Words before a statement of the kind `the tests pass` that make it no report. */
export const noPassReport: RegExp =
  /\b(?:if|whether|when|whenever|unless|until|once|while|would|could|should|might|may|must|can|cannot|will|shall|to (?:make|ensure|see|check|confirm|verify|get|keep)|ensures?|ensuring|make sure|making sure|verify|check that|so that|so|expect\w*|assum\w*|requires?|required|means?|you|your|they|user|user['’]s|not|never|no longer|none|neither|nor|without|before|previous\w*|earlier|already|originally|fail\w*|except|apart from|aside from|other than|want\w*|needs?|goal|target|criteri\w+|acceptance|definition|example|e\.g|says?|said|claims?|CI|pipeline|workflow|since|because|given|provided|as long as|hope\w*|believe|think|guess|likely|probably|presumably|appears?|seems?|ready|only|almost|most|some|half|wait\w*|let me|todo|next|then|describe\w*|README|docs?|documentation|per)\b|n['’]t\b|['’]ll\b|\?/i;

/** What may not follow such a statement: a condition or an exception. */
export const passException: RegExp =
  /^[^.]{0,80}?\b(?:if|when|whenever|unless|once|except|apart from|aside from|other than|but (?:one|two|three|\d|for|the)|only|as long as|in CI|on CI|before|would|should|expected|until|fail\w*|provided)\b/i;

/** Words that narrow the tests of a statement, so that a failure of other tests does not contradict it. */
export const narrowing: RegExp =
  /\b(?:unit|integration|regression|e2e|end-to-end|smoke|relevant|affected|updated|remaining|other|new|existing|related|added|modified|these|those|both|backend|frontend)\b/i;

/** `exited with code 0`, `returned exit code 1`, `the exit code was 2`; a rule such as `exit code 2 denies` is no report. */
export const exitPattern: RegExp =
  /\b(?:exited(?:\s+(?:with|cleanly with))?(?:\s+(?:an?\s+)?(?:exit\s+)?(?:code|status))?(?:\s+of)?|(?:returned|ended|finished|completed|failed|succeeded|passed|ran)\s+(?:successfully\s+)?(?:with\s+)?(?:an?\s+)?exit\s+(?:code|status)(?:\s+of)?|exit\s+(?:code|status)\s+was)\s*:?\s*(\d{1,3})\b(?!\.\d)/gi;

/** `the command printed 42`, `which printed "ok"`, `the output was 42`. */
export const outputPattern: RegExp =
  /(?:\b(?:command|script|program|binary|it|which|run|\uE000)\s*(?:then\s+|now\s+|correctly\s+|successfully\s+)?(?:printed|outputted|displayed|logged|output)(?:\s+(?:out|the (?:number|text|line|value|word|string|message)|exactly|only))?|\bcommand\s+(?:returned|reported|showed)|\b(?:its|the)\s+output\s+(?:was|read|said)(?:\s+exactly)?|(?<=\uE000)\s+(?:printed|outputted|displayed|returned|reported|logged))\s*:?\s*(\uE000+|\uE001+|-?\d[\d.,]*\d|-?\d+)(?!\s*[a-z%])/gi;

/** A number before its unit also counts: `printed 3 lines` is no value, `printed 42` is one. */
export const contentPattern: RegExp =
  /\bnow\s+(?:contains?|has|includes?|exports?|reads?|says|holds|starts with|ends with|defines|declares|sets|returns)\s*:?\s+(?:(?:the|a|an|one)\s+(?:\w+\s+){0,2})?(\uE000+|\uE001+)/gi;

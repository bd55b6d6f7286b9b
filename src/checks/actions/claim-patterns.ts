// The phrases by which an answer states exit codes, printed values and contents of files. Every pattern is tried on one sentence of at most 600 characters.

/** Words after which what follows is no report: conditions, plans, wishes, reports on others, history. */
export const noReport: RegExp =
  /\b(?:if|whether|when|whenever|unless|until|once|would|could|should|might|may|must|can|cannot|will|shall|wish|suppose|assuming|imagine|pretend|according|says?|said|claims?|claimed|e\.g|example|previous|previously|earlier|yesterday|originally|formerly|already|last (?:week|month|year|time|session)|you|your|they|he|she|the user|someone|todo|to-do|planned|plan|plans|intend|hypothetical\w*|as though|as if|instead of|rather than|without|never|nor|neither|nothing|none|not)\b|n['’]t\b|['’]ll\b/i;

/** `exited with code 0`, `returned exit code 1`, `the exit code was 2`; a rule such as `exit code 2 denies` is no report. */
export const exitPattern: RegExp =
  /(?:\b(?:exited(?:\s+(?:with|cleanly with))?(?:\s+(?:an?\s+)?(?:exit\s+)?(?:code|status))?(?:\s+of)?|(?:returned|ended|finished|completed|failed|succeeded|passed|ran)\s+(?:successfully\s+)?(?:with\s+)?(?:an?\s+)?exit\s+(?:code|status)(?:\s+of)?|exit\s+(?:code|status)\s+was)|(?<=\uE000)\s+(?:now\s+)?exits(?:\s+with)?(?:\s+(?:exit\s+)?(?:code|status))?(?=\s+\d{1,3}\s*(?:$|[.,;)!])))\s*:?\s*(\d{1,3})\b(?!\.\d)/gi;

/** `the command printed 42`, `which printed "ok"`, `the output was 42`. */
export const outputPattern: RegExp =
  /(?:\b(?:command|script|program|binary|it|which|run|\uE000)\s*(?:then\s+|now\s+|correctly\s+|successfully\s+)?(?:printed|outputted|displayed|logged|output)(?:\s+(?:out|the (?:number|text|line|value|word|string|message)|exactly|only))?|\bcommand\s+(?:returned|reported|showed)|\b(?:its|the)\s+output\s+(?:was|read|said)(?:\s+exactly)?|(?<=\uE000)\s+(?:printed|outputted|displayed|returned|reported|logged))\s*:?\s*(\uE000+|\uE001+|-?\d[\d.,]*\d|-?\d+)(?!\s*[a-z%])/gi;

/** A number before its unit also counts: `printed 3 lines` is no value, `printed 42` is one. */
export const contentPattern: RegExp =
  /\bnow\s+(?:contains?|has|includes?|exports?|reads?|says|holds|starts with|ends with|defines|declares|sets|returns)\s*:?\s+(?:(?:the|a|an|one)\s+(?:\w+\s+){0,2})?(\uE000+|\uE001+)/gi;

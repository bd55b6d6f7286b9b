// The words by which a text denies, limits, invents or only collects the statements around them.

/** Words that call a statement near them untrue, outdated or invented. */
export const strongDenial: RegExp =
  /\b(?:false|falsely|falsehoods?|wrong|wrongly|untrue|incorrect|incorrectly|nonsense|myths?|misconceptions?|misunderstandings?|fallac(?:y|ies)|mistakes?|mistaken|mistakenly|errors?|erroneous|hoax(?:es)?|jokes?|joking|kidding|prank|lol|haha|lies?|lied|liars?|fake[ds]?|fiction|fictional|fictitious|novels?|fairy|legends?|dreams?|satire|satirical|parody|debunked|disproved|disproven|refuted|retracted|withdrawn|revoked|repealed|rejected|reverted|fabricated|invented|made[ -]up|hallucinat\w{1,4}|inaccurate|misleading|unproven|unconfirmed|unverified|disputed|doubt(?:s|ed|ful)?|outdated|obsolete|superseded|deprecated|formerly|previously|no longer|not (?:true|correct|the case|so|right|valid|accurate|real)|imagin(?:e|ed|ary)|suppose|supposed(?:ly)?|pretend|hypothe(?:sis|ses|tical|tically|size)|thought experiment|scenarios?|simulat(?:ed|ion)|alleged(?:ly)?|rumou?r(?:s|ed)?|claims?|claimed|claiming|believ(?:e|ed|es|ers?)|beliefs?|superstitions?|conspirac(?:y|ies)|propaganda|disinformation|misinformation|so-called|reportedly|opponents?|critics?|draft|placeholder|lorem ipsum|for example|sample text|dummy|test data)\b/i;

/** Words of a title or an introduction under which statements are collected that the source does not make itself. */
export const collectingWords: RegExp =
  /\b(?:opinions?|comments?|reviews?|feedback|complaints?|rumou?rs?|posts?|tweets?|messages?|quotes?|quotations?|sayings?|statements?|texts?|answers?|responses?|replies|options?|choices|choose|select|which|quiz|exam|exercises?|questions?|pupils?|students?|users? (?:say|wrote|think)|people (?:say|think)|pitfalls?|traps?|bad|avoid|don['’]t|do not|anti-?patterns?|ideas?|proposals?|proposed|suggestions?|alternatives?|considered|considerations|brainstorm\w{0,4}|wish(?:es)?|goals?|plans?|planned|roadmap|future|todo|history|historical|old|former|past|before|legacy|archive[ds]?|stor(?:y|ies)|films?|movies?|games?|plays?|poems?|songs?|dialogue|transcript|examples?|inputs?|prompts?|notes of|translations?|what not|never|not|instead|unsorted|unchecked|to (?:be )?(?:check|verif)\w{0,4})\b/i;

/** Words that say that a statement before them is limited, or only the view of a person. */
export const limitingWords: RegExp =
  /\b(?:until|unless|changed|used to|formerly|previously|no longer|was|were|had been|now|today|only|rarely|sometimes|except|but|however|although|though|goes|says?|said|assum(?:e|ed|ption)|plan|planned|expected|theory|idea|hope|opinion|view|what)\b/i;

/** Words that say that something before them was undone later. */
export const reversal: RegExp =
  /\b(?:cancell?ed|overturned|overruled|reversed|undone|annulled|rescinded|replaced|replaces|abolished|suspended|dissolved|resigned|succeeded|stepped down|lifted|dropped|expired since|ceased)\b/i;

/** The beginning of a sentence that turns against the one before it. */
export const contraryStart: RegExp =
  /^\W*(?:actually|in fact|in reality|in truth|rather|really|no|nope|not|wrong|au contraire|on the contrary|by contrast|instead|or|but|however|yet|except|only|still|alas|sadly|well|hm+)\b/i;

/** The beginning of a sentence that asks for work on the text after it. */
export const taskStart: RegExp =
  /^\W*(?:please )?(?:rewrite|rephrase|paraphrase|translate|correct|complete|discuss|find|spot|fix|explain|compare|evaluate|consider|read|copy|repeat|type|say|write|print|echo|quote|summari[sz]e|answer|classify|decide|judge|check|verify|prove|disprove|analy[sz]e|comment|underline|memori[sz]e|guess)\b/i;

/** Words of a state that is not reached yet. */
export const waitingWords: RegExp =
  /\b(?:once|when|until|till|before|after|as soon as|will|shall|soon|later|eventually|someday)\b/i;

/** Words of German, French, Spanish and Chinese that deny or report. */
const foreignDenial =
  /(?<!\p{L})(?:falsch\p{L}{0,3}|nicht|kein\p{L}{0,2}|irrtum|irrtümlich|angeblich\p{L}{0,2}|gerüchte?|mythos|mythen|widerlegt|behauptet\p{L}{0,2}|faux|fausse|erreurs?|mensonges?|rumeurs?|prétendu\p{L}{0,2}|n['’]est pas|falso|falsa|mito|mentira|erróneo|errónea)(?!\p{L})|错误|谣言|虚假|不实|不是|并非|据说|传说/iu;

/** Whether a text denies or reports in another language than English. */
export const isForeignDenial = (text: string): boolean => foreignDenial.test(text);

const untrue = String.raw`(?:false|wrong|untrue|incorrect|inaccurate|fictional|fictitious|fiction|satire|parody|a hoax|a joke|jokes|lies|made[ -]up|invented|fabricated|outdated|obsolete|superseded|withdrawn|retracted|unreliable|not (?:true|correct|accurate|valid|real)|no longer (?:true|correct|valid))`;

const untrueWord = new RegExp(String.raw`\b${untrue}\b`, 'i');

/** A sentence that calls a source, or sentences of it, untrue. */
const wholeDenial = new RegExp(
  String.raw`\b(?:everything|nothing|all|most|many|some|none|(?:the|these|this|those) (?:[\w-]{1,30} ){0,3}(?:statements?|sentences?|claims?|facts?|page|document|article|text|section|paragraph|list|file|story|website|blog|post|answers?|information|content|above|below))\b(?:\s[^\s.!?]{1,40}){0,6}\s(?:is|are|was|were|has been|have been|proved|turned out)(?:\s[^\s.!?]{1,40}){0,2}\s${untrue}\b`,
  'i',
);

/** Marks of a source that was corrected, that is a draft or was given up, or that is fiction. */
const wholeMarks =
  /\b(?:corrections?|erratum|errata|corrigend(?:um|a)|retraction|april fools?|satire|satirical|parody|works? of fiction|lorem ipsum|only (?:statement|answer|option|sentence|claim|item|number))\b|\b(?:update|edit)\s?:|^\W{0,6}stat(?:us|e)\W{1,6}(?:draft|rejected|superseded|deprecated|withdrawn|obsolete|proposed|abandoned|cancelled|archived|retired|outdated)\b|^\W{0,6}(?:superseded|obsoleted|replaced)[ -]by\b|^\W{0,6}(?:deprecated|obsolete|superseded|archived|withdrawn|retracted|outdated)\W{0,6}$/im;

/** A sentence that calls a document given up or no longer right. */
const givenUp =
  /\bthis (?:[\w-]{1,30} ){0,2}(?:document|page|article|guide|adr|rfc|decision|record|spec|specification|policy|proposal|manual|readme|wiki|post|chapter|section|edition|version)\b(?:\s[^\s.!?]{1,40}){0,2}\s(?:is|was|has been|are)(?:\s[^\s.!?]{1,40}){0,2}\s(?:deprecated|archived|obsolete|outdated|superseded|withdrawn|retired|rejected|retracted|abandoned|out of date|no longer|not (?:maintained|current|valid|up to date))\b|\b(?:nothing|none|not a word)\b(?:\s[^\s.!?]{1,40}){0,6}\s(?:is|are|was|were)\s(?:\w{1,20}\s)?(?:true|correct|accurate|right|real|valid)\b/i;

const frontMatter = /^(?:---|\+\+\+)[ \t]*\n([^]{1,4000}?)\n(?:---|\+\+\+|\.\.\.)[ \t]*(?:\n|$)/;
/** A flag that a document is given up, unless it is set to false. */
const givenUpFlag =
  /^(?:is[ _-]?)?(?:draft|archived?|deprecated|obsolete|outdated|superseded|replaced|retracted|withdrawn|retired|expired|rejected|fiction|unlisted)(?:[ _-]?(?:by|on|at|date|in))?[ \t]*[:=][ \t]*(?!false|no|null|~|''|""|\[\]|$)/im;
const describingLine =
  /^(?:title|status|state|stage|tags?|keywords|categor(?:y|ies)|type|kind|labels?)[ \t]*[:=].{0,400}$/gim;

/** Whether the front matter of a document says that it is given up, invented or about what is not so. */
function isMarkedInFront(text: string): boolean {
  const front = /^(?:---|\+\+\+)/.test(text) ? frontMatter.exec(text)?.[1] : undefined;
  if (front === undefined) return false;
  return givenUpFlag.test(front) || (front.match(describingLine) ?? []).some((line) => strongDenial.test(line));
}

/** Whether a source calls itself or a part of it untrue, corrected, given up or invented: then no sentence of it is taken as it stands. */
export const deniesItself = (text: string): boolean =>
  wholeMarks.test(text) ||
  (untrueWord.test(text) && wholeDenial.test(text)) ||
  givenUp.test(text) ||
  isMarkedInFront(text);

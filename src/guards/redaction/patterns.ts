// Detects secrets by their form: key prefixes of known services, and assignments to secret names. Every pattern runs in linear time.

/** Prefix patterns by kind: a fixed prefix, followed by at least so many characters of an alphabet. */
const keyPrefixes: Readonly<Record<string, string>> = {
  'access key': '(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])[A-Z2-7]{16} LTAI[A-Za-z0-9]{20} ABSK[A-Za-z0-9+/]{100,}',
  'repository token': [
    'gh[pousr]_[A-Za-z0-9]{36,} github_pat_\\w{60,} gl[a-z]{1,6}-(?:t\\d_)?[\\w.-]{20,} GR1348941[\\w-]{20}',
    'ATATT3[\\w=-]{60,} ATBB[A-Za-z0-9]{32} sgp_\\w{40,} figd_[\\w-]{30,}',
  ].join(' '),
  'chat token':
    'xox[a-z](?:\\.xox[bp])?-[\\w-]{10,} xapp-\\d-[\\w-]{8,} [MNO][A-Za-z\\d]{23,25}\\.[\\w-]{6}\\.[\\w-]{27,}',
  'model key': [
    'sk-[\\w-]{20,} (?:gsk|r8|hf|api_org|lsv2|nvapi|fw|csk|together)_[\\w-]{30,} xai-[\\w-]{40,} pplx-[\\w-]{32,}',
    'nvapi-[\\w-]{40,} AIza[\\w-]{35} bedrock-api-key-[\\w+/=-]{20,}',
  ].join(' '),
  'cloud key': [
    'GOCSPX-[\\w-]{28} ya29\\.[\\w-]{20,} AQVN[\\w-]{35,38} AQ\\.[\\w-]{40,} YC[A-Za-z0-9_-]{38} t1\\.[\\w=.-]{80,}',
    'do[opr]_v1_[a-f0-9]{64} hv[sb]\\.[\\w-]{80,} [a-z0-9]{14}\\.atlasv1\\.[\\w=-]{60,} dapi[a-f0-9]{32} HRKU-[\\w-]{36,}',
    'fo1_[\\w-]{43} fm[12][ar]?_[\\w+/=-]{60,} v1\\.0-[a-f0-9]{24}-[a-f0-9]{100,} [\\w~.]{3}\\dQ~[\\w~.-]{31,34}',
    'AKCp[A-Za-z0-9]{60,} cmVmd[A-Za-z0-9]{50,} sl\\.[\\w=-]{100,} [ps]k\\.[A-Za-z0-9]{40,}\\.[\\w-]{20,} ops_eyJ[A-Za-z0-9+/=]{100,} A3-[A-Z0-9]{6}-[A-Z0-9]{5,11}(?:-[A-Z0-9]{5,6}){3,4}',
    'dt0[a-z]\\d\\d\\.[A-Za-z0-9]{24}\\.[A-Za-z0-9]{60,} pul-[a-f0-9]{40} pscale_[a-z]{2,6}_[\\w=.-]{30,} 4b1d[A-Za-z0-9]{38}',
    'sha256~[\\w-]{43} s\\.[A-Za-z0-9]{24} tskey-[\\w-]{20,} sbp_[a-z0-9]{40} nfp_[A-Za-z0-9]{36,} AGE-SECRET-KEY-1[0-9A-Z]{58}',
  ].join(' '),
  'package token':
    'npm_[A-Za-z0-9]{36} pypi-[\\w-]{50,} rubygems_[a-f0-9]{48} CLOJARS_[A-Za-z0-9]{60} dckr_[op]at_[\\w-]{24,} oy2[a-z0-9]{43} cio[A-Za-z0-9]{32}',
  'payment key': [
    '[rsp]k_(?:live|test|prod)_[A-Za-z0-9]{10,} whsec_[A-Za-z0-9+/=]{24,} FLW(?:PUB|SEC)K(?:_TEST)?-[A-Za-z0-9]{12,} sq0[a-z]{3}-[\\w-]{22,}',
    'EAAA[\\w-]{22,60} access-(?:sandbox|development|production)-[a-f0-9-]{36} EZ[AT]K[A-Za-z0-9]{54} shippo_(?:live|test)_[A-Fa-f0-9]{40}',
    'duffel_(?:test|live)_[\\w=-]{43} shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}',
  ].join(' '),
  'mail key':
    'SG\\.[\\w=.-]{60,80} (?:pub)?key-[a-f0-9]{32} [a-f0-9]{32}-us\\d{1,2} xkeysib-[a-f0-9]{64}-[A-Za-z0-9]{16} SK[0-9a-fA-F]{32}',
  'service token': [
    'gl(?:c|sa)_[\\w+/=]{32,} eyJrIjoi[A-Za-z0-9+/=]{70,} NR(?:AK|JS|II|RA)-[\\w-]{19,} sntry[su]_[\\w+/=-]{40,} dp\\.[a-z]{2,6}\\.[\\w.-]{40,}',
    'lin_api_[A-Za-z0-9]{40} ntn_[A-Za-z0-9]{40,} secret_[A-Za-z0-9]{43} PMAK-[a-f0-9]{24}-[a-f0-9]{34} pnu_[A-Za-z0-9]{36} rdme_[a-z0-9]{70}',
    'tfp_[\\w.=-]{50,} fio-u-[\\w=-]{60,} ico-[A-Za-z0-9]{32} s-s4t2(?:ud|af)-[a-f0-9]{64} [\\w]{6}_\\w{29}_mmk API-[A-Z0-9]{26}',
    'sm_(?:aat|pat|sat)_\\w{16} p8e-[A-Za-z0-9]{32} aio_[A-Za-z0-9]{28} CFPAT-[\\w-]{40,} dnkey-[\\w=-]{26}-[\\w=-]{52} pat\\w{14}\\.[a-f0-9]{64}',
    '[ps]at\\.[\\w-]{22}\\.[\\w]{24}\\.\\w{20} tk-us-[\\w-]{48} EAA[MC][A-Za-z0-9]{80,} phx_\\w{40,} ddp?_[A-Za-z0-9]{30,} lp_[a-z]{2,5}_\\w{30,}',
    '(?:sc|ext|scauth|authress)_[A-Za-z0-9]{5,30}\\.[A-Za-z0-9]{4,6}\\.acc[_-][A-Za-z0-9-]{10,32}\\.[\\w+/=-]{30,} 00[\\w=-]{40}',
  ].join(' '),
  'signed token': 'eyJ[\\w-]{10,}\\.ey[\\w-]{10,}(?:\\.[\\w-]{10,})? ZXlK[A-Za-z0-9+/]{40,}',
};

/** Matches text that is long enough to be a key. No character is scanned twice: each run of these characters is matched from its start only. */
const candidatePattern = /(?<![\w.~-])[\w.~-]{12,}/g;
/** All prefixes in one pattern with a group for each kind. Compiled when a text first contains a long run, which most program starts never do. */
let prefixPattern: RegExp | undefined;
const prefixPatternAt = (index: number): RegExp => {
  const groups = (): string =>
    Object.values(keyPrefixes)
      .map((each) => `(${each.split(' ').join('|')})`)
      .join('|');
  prefixPattern ??= new RegExp(`(?:${groups()})(?![A-Za-z0-9])`, 'y');
  prefixPattern.lastIndex = index;
  return prefixPattern;
};
const prefixKinds = Object.keys(keyPrefixes);

/** Matches assignments to names that usually hold secrets; the value is in the group. */
const assignedSecretPattern =
  /(?:pass(?:word|wd|phrase)|[_-]pwd|secret|token|credential|[_-]key|(?:api|access|auth|private|secret|consumer|account|master|shared|license)key|authkey|webhook|authorization)[\w.-]{0,20}["'`\\]{0,2}[ \t]{0,3}(?::=|=>|=|:)[ \t]{0,3}["'`\\]{0,2}((?:basic|bearer)?[\w+/=~!@#$%^&*.-]{12,300})/gi;

/** Credentials in headers and URLs. */
const contextPatterns: readonly RegExp[] = [
  /(?:hooks\.slack\.com\/(?:services|workflows|triggers)|discord(?:app)?\.com\/api\/webhooks|webhook\.office\.com\/webhookb2)\/([\w@/+-]{20,300})/g,
  /(?<!\w)\d{5,16}:(A[\w-]{34})(?!\w)/g,
  /authorization["'`\\]{0,2}[ \t]{0,3}[:=][ \t]{0,3}["'`\\]{0,2}(?:basic|bearer|token|digest|apikey|negotiate)[ \t]{1,3}([\w+/=~@.-]{6,2000})/gi,
  /:\/\/[^\s/:@"'<>`]{0,80}:([^\s/@"'<>`]{3,200})@/g,
  /\bcurl\b[^\n]{0,100}?\s(?:-u|--user)[ \t=]{0,5}["']?[^\s:"']{1,80}:([^\s"']{3,200})/g,
];

/** A range of a text that is a secret. */
export type SecretMatch = { readonly from: number; readonly to: number; readonly kind: string };

/** Returns the secrets that can be recognized by their form, in no order. Ranges may overlap. */
export function findSecretPatterns(text: string): readonly SecretMatch[] {
  const found: SecretMatch[] = [...findPrivateKeys(text)];
  for (const { index } of text.matchAll(candidatePattern)) {
    const match = prefixPatternAt(index).exec(text);
    if (!match || !looksLikeKey(match[0])) continue;
    const at = match.slice(1).findIndex((each) => each !== undefined);
    found.push(toSecretMatch(match, match[0], prefixKinds[at] ?? 'key'));
  }
  // Every pattern below needs one of these characters.
  if (!/[=:/]/.test(text)) return found;
  for (const match of text.matchAll(assignedSecretPattern)) {
    const [matched, value = ''] = match;
    const next = text.slice(match.index + matched.length, match.index + matched.length + 2);
    if (looksRandom(value) && !/^[([]/.test(next)) found.push(toSecretMatch(match, value, 'value of a secret name'));
  }
  for (const pattern of contextPatterns)
    for (const match of text.matchAll(pattern)) {
      const [, value = ''] = match;
      if (!isPlaceholder(value)) found.push(toSecretMatch(match, value, 'login'));
    }
  return found;
}

const toSecretMatch = (match: RegExpExecArray, part: string, kind: string): SecretMatch => {
  const from = match.index + match[0].lastIndexOf(part);
  return { from, to: from + part.length, kind };
};

/** Some of these prefixes also start plain words. */
const looksLikeKey = (found: string): boolean =>
  /[A-Za-z]{2}/.test(found) && shannonEntropy(found) >= (/\d.*\d/.test(found) ? 2.8 : 3.7) && !isIdentifierLike(found);

/** An assigned value may also be a word, an identifier or a placeholder. */
const looksRandom = (value: string): boolean =>
  /\d/.test(value) &&
  /[A-Za-z]/.test(value) &&
  shannonEntropy(value) >= 3 &&
  !isIdentifierLike(value) &&
  !isPlaceholder(value);

/** Returns true for names such as `user-token-2` and `getToken2Of`: longer words, each followed by at most one number. */
function isIdentifierLike(value: string): boolean {
  const words = value.split(/[_/.+=:-]|(?<=[a-z])(?=[A-Z])/).filter(Boolean);
  const isWord = (each: string): boolean => /^(?:[A-Za-z]?[a-z]{0,14}|[A-Z]{1,14})\d{0,3}$|^\d{1,4}$/.test(each);
  return value.length / words.length >= 3.5 && words.every(isWord);
}

/** Returns true for placeholders that manuals and programs use instead of a secret. */
const isPlaceholder = (value: string): boolean =>
  /^(?:[$%{<*[]|process\.|os\.|x{3}|\.{3})|\$\{|\{\{|^(?:secret|password|pass|pwd|token|key)$/i.test(value) ||
  (/^(?:your|my|some|test|example|dummy|sample|change)/i.test(value) && !/(?:\d.*){4}/.test(value));

/** Returns bits per character by frequency. It is low for words and placeholders. */
function shannonEntropy(text: string): number {
  const counts = new Map<string, number>();
  for (const letter of text) counts.set(letter, (counts.get(letter) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}

const privateKeyHeader = /-----BEGIN[A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-----/g;
const privateKeyFooter = '-----END';
const maxPrivateKeyLength = 20_000;
/** The body of a private key without its end line: lines of base64 only. */
const privateKeyBody =
  /(?:(?:\s|\\[rn])*[A-Za-z0-9+/=]{16,}){1,400}(?:(?:\s|\\[rn])*[A-Za-z0-9+/=]{1,15}(?![^\s"'[]))?/y;

/** Finds private keys from their first line to their last, or to the end of a truncated one. */
function findPrivateKeys(text: string): readonly SecretMatch[] {
  const found: SecretMatch[] = [];
  let end = -1;
  for (const match of text.matchAll(privateKeyHeader)) {
    const from = match.index;
    const start = from + match[0].length;
    // Each end marker is searched for once, however many start markers precede it.
    if (end < start && end !== Infinity) end = text.indexOf(privateKeyFooter, start);
    if (end < 0) end = Infinity;
    const stop = end - start > maxPrivateKeyLength ? -1 : text.indexOf('-----', end + privateKeyFooter.length);
    privateKeyBody.lastIndex = start;
    const cut = stop < 0 ? privateKeyBody.exec(text) : undefined;
    if (stop >= 0 && end - start >= 40) found.push({ from, to: stop + 5, kind: 'private key' });
    else if (cut) found.push({ from, to: start + cut[0].length, kind: 'private key' });
  }
  return found;
}

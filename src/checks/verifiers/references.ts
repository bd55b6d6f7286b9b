// Looks up the URLs and file paths of a claim: in the evidence, in the event log, and paths in the workspace. Nothing is fetched.
import type { Event } from '../../core/index.ts';
import type { Claim, ClaimVerdict, Verifier, VerifyContext } from '../types.ts';
import { isIndirect } from './assertion.ts';
import { hasSomeTrait, traits } from './claim-traits.ts';
import { stringsOf } from './independence.ts';
import { oncePerText } from './source-text.ts';
import { computedEvidence, decideExactly, isReadable, refuse, verifier } from './verifier.ts';

const maxReferences = 50;
const urlPattern = /https?:\/\/[^\s<>"'`“”’|\\^{}[\]]+/gi;
const trailing = /[.,;:!?)*_]+$/;

/** A path has a slash or is in backticks, and ends with an extension of letters and digits. */
const pathPattern =
  /`([^`\s:*?"<>|]{1,300}\.[a-z0-9]{1,8})`|(?<![\w:/.@-])((?:\.{0,2}\/)?(?:[\w.@-]{1,100}\/){1,20}[\w.@-]{1,100}\.[a-z0-9]{1,8})(?![\w/])/gi;

const findUrls = (text: string): readonly string[] =>
  [...new Set(text.match(urlPattern)?.map((url) => url.replace(trailing, '')))].slice(0, maxReferences);

function findPaths(text: string): readonly string[] {
  const withoutUrls = text.replaceAll(urlPattern, ' ');
  const paths = Array.from(withoutUrls.matchAll(pathPattern), ([, ticked, plain]) => ticked ?? plain ?? '');
  return [...new Set(paths)].filter((path) => /\.[a-z][a-z0-9]*$/i.test(path)).slice(0, maxReferences);
}

/** Names that are rarely paths of the workspace: `process.env`, a file of an unnamed folder, a host, a placeholder. That they are missing decides nothing. */
const isUncertainPath = (path: string): boolean =>
  !path.includes('/') ||
  /^[\w-]+(?:\.[\w-]+)*\.(?:ai|app|com|dev|edu|eu|gov|io|net|org)\//i.test(path) ||
  /[${}]/.test(path);

const eventUrls = new WeakMap<readonly Event[], ReadonlySet<string>>();

/** The URLs of the results of tools and of the user's inputs; what the model wrote does not count. */
function urlsOfEvents(events: readonly Event[]): ReadonlySet<string> {
  const known = eventUrls.get(events);
  if (known) return known;
  const urls = new Set<string>();
  for (const event of events)
    if (event.type === 'tool-ended' || event.type === 'input-received')
      for (const text of stringsOf(event)) for (const url of findUrls(text)) urls.add(url);
  eventUrls.set(events, urls);
  return urls;
}

const urlsOfEvidence = oncePerText((text): ReadonlySet<string> => new Set(findUrls(text)));

/** What follows about the rest: a path that is to be made, was removed or is missing need not exist. */
const changesFiles =
  /\b(?:creat\w{0,4}|add(?:s|ed|ing)?|new|delet\w{0,4}|remov\w{0,4}|renam\w{0,4}|mov(?:e|es|ed|ing)|missing|absent|will|should|can|gone|writ(?:e|es|ten|ing)|wrote|generat\w{0,4}|save[sd]?|saving|such as|for example|e\.g)\b/i;
const existence = /^(?:the )?(?:file|path)? ?(?:exists|is there|is in the (?:workspace|repository|project))$/i;

async function verifyPaths(
  { text }: Claim,
  fileExists: NonNullable<VerifyContext['fileExists']>,
): Promise<ClaimVerdict | undefined> {
  const found: string[] = [];
  let isOpen = false;
  for (const path of findPaths(text)) {
    const exists = await fileExists(path);
    if (exists === true) found.push(path);
    else if (exists === undefined || isUncertainPath(path) || changesFiles.test(text) || isIndirect(text))
      isOpen = true;
    else {
      const evidence = computedEvidence('references', `${path}: no such file in the workspace`);
      return decideExactly('contradicted', 'references', [evidence], `The file ${path} does not exist.`);
    }
  }
  const [path] = found;
  const rest =
    path === undefined
      ? ''
      : text
          .replace(path, '')
          .replaceAll(/[`*_.!]/g, '')
          .replaceAll(/\s+/g, ' ')
          .trim();
  if (isOpen || path === undefined || found.length > 1 || !existence.test(rest)) return undefined;
  const evidence = computedEvidence('references', `${path}: exists in the workspace`);
  return decideExactly('supported', 'references', [evidence], `The file ${path} exists.`);
}

function verifyReferences(claim: Claim, context: VerifyContext): ReturnType<Verifier['verify']> {
  const { evidence, events, fileExists } = context;
  for (const url of findUrls(claim.text)) {
    const isKnown =
      evidence.some((each) => urlsOfEvidence(each).has(url)) || (events !== undefined && urlsOfEvents(events).has(url));
    if (!isKnown) return refuse(`The address ${url} is neither in the evidence nor in the log.`);
  }
  // A command may create the files that it names.
  return claim.kind === 'code' || !fileExists ? undefined : verifyPaths(claim, fileExists);
}

/** Refuses a claim with a URL that neither evidence nor log contains, and contradicts one with a file path that does not exist. */
export const referenceVerifier: Verifier = verifier({
  name: 'references',
  handles: (claim) =>
    isReadable(claim) && hasSomeTrait(claim.text, traits.slash | traits.tick) && /[/`]/.test(claim.text),
  verify: verifyReferences,
});

// Reads operations that a statement reports as done, in participles and in other languages, and compares them with the commands of their class.
import type { ClaimVerdict } from '../types.ts';
import { classifyCommand } from './commands.ts';
import type { Statement } from './split-statements.ts';
import { negative, hasOtherMeaning, withoutDenied } from './outcome-words.ts';
import type { SessionActions } from './session-actions.ts';
import { decide, eventEvidence, findUnknown, shorten, summaryEvidence } from './verdicts.ts';

type Operation = {
  readonly name: string;
  /** Texts without which no statement names it. */
  readonly stems: readonly string[];
  /** What a statement says in lower case, with code as placeholders. */
  readonly claim: RegExp;
  /** The commands that can do it. */
  readonly by: RegExp;
};

const operations: readonly Operation[] = [
  {
    name: 'tag',
    stems: ['tag', 'étiquette', 'etiqueta'],
    claim:
      /(?<![\p{L}])(?:tag \uE000+ (?:was |has been |is )?(?:created|set|added|made|pushed)|(?:created|added|set|pushed) (?:the |a )?(?:release |git |annotated )?tag(?: \uE000+|$|[.,;])|tag \uE000+ (?:erstellt|gesetzt|angelegt)|étiquette \uE000+ créée|tag \uE000+ créé|etiqueta \uE000+ creada|tag \uE000+ creado|cre[ée] (?:la etiqueta|el tag) \uE000+)/u,
    by: /\bgit\s(?:[^|;&]*\s)?(?:tag|push)\b|\b(?:npm|pnpm|yarn)\s+version\b|\bgh\s+release\b|\b(?:release-it|semantic-release|goreleaser|cargo\s+release|lerna|changeset)\b/,
  },
  {
    name: 'branch',
    stems: ['branch', 'rama'],
    claim:
      /(?<![\p{L}])(?:(?:made|created|opened|started|cut) (?:a |the )?(?:new |separate |feature |topic )?branch \uE000+|branch \uE000+ (?:was |has been )?(?:created|made)|branch \uE000+ (?:erstellt|angelegt)|(?:neuen )?branch \uE000+ (?:erstellt|angelegt)|branche \uE000+ créée|créé (?:la|une) (?:nouvelle )?branche \uE000+|rama \uE000+ creada|cre[ée] (?:la|una) (?:nueva )?rama \uE000+|on (?:a|the) new branch \uE000+)/u,
    by: /\bgit\s(?:[^|;&]*\s)?(?:branch|checkout|switch|worktree|flow|push|clone)\b|\bgh\b|\b(?:jj|hg)\b/,
  },
  {
    name: 'deployment',
    stems: ['deploy', 'rolled out', 'rollout', 'ausgerollt', 'déploy', 'despleg'],
    claim:
      /(?<![\p{L}])(?:(?:is|are|was|were|been|i|we|and|[✅✓]|^)\s*(?:now |also |then )?(?:deployed|rolled out|redeployed)(?: (?:to|on|with|via)\b|[.,;!]|$)|(?:i|we|i['’]ve|we['’]ve) (?:also |then )?deployed (?:[\p{L}\uE000-]+ ){1,5}(?:to|on) |(?:deploy|deployment|rollout)(?: of \S+)? (?:finished|completed|succeeded|went through|is done|is complete)|ausgerollt|deployt|déployée?(?: sur)?|desplegad[ao]|despleg[uú]é)/u,
    by: /deploy|release|publish|\b(?:kubectl|helm|terraform|tofu|vercel|netlify|fly|flyctl|heroku|serverless|sls|cdk|gcloud|aws|az|wrangler|firebase|rsync|scp|ssh|docker|ansible\S*|pulumi|railway|surge|gh|kamal|sftp|lftp|oc|nomad)\b|\bgit\s+push\b/,
  },
  {
    name: 'kubectl apply',
    stems: ['applied'],
    claim:
      /(?<![\p{L}])(?:(?:i|we|and|then|also) (?:then )?applied (?:it|them|the \w+|this|\uE000+) (?:with|using|via|through|to) (?:kubectl|the cluster|\uE000+)|applied (?:it|them) (?:with|using|via) (?:kubectl|terraform|helm))/u,
    by: /\b(?:kubectl|helm|terraform|tofu|kustomize|oc|argocd|flux)\b/,
  },
  {
    name: 'apply',
    stems: ['\uE002'],
    claim:
      /(?<![\p{L}])(?:(?:ran|executed|lancé|exécuté|ejecuté|he ejecutado|habe)\s+(?:\uE002)|(?:\uE002)(?: \p{L}+){0,2} (?:ausgeführt|gelaufen))/u,
    by: /\b(?:terraform|tofu|pulumi|cdk)\s+(?:apply|up|deploy)\b/,
  },
  {
    name: 'installation',
    stems: ['instal'],
    claim:
      /(?<![\p{L}])(?:(?:i|we|and|i['’]ve|then) (?:also |then )?installed (?:it|them|\uE000+|the (?:package|packages|dependency|dependencies|new dependency))(?= (?:in|into|with|via|using|from)\b|[.,;]|$)|\uE000+ (?:ist|wurde|sind|wurden) (?:jetzt |auch )?installiert|\uE000+ (?:est|a été|sont|ont été) installée?s?|(?:lo|la|los) instalé|(?:l['’]|les )ai installée?s?)/u,
    by: /install|\b(?:add|sync|get|require|restore|bundle|ci|update|upgrade|setup|bootstrap|tidy|shell|develop)\b|^(?:yarn|pnpm|bundle)\b|\bi\b/,
  },
  {
    name: 'benchmark',
    stems: ['benchmark', 'profiled', 'load-tested', 'timed'],
    claim:
      /(?<![\p{L}])(?:(?:i|we|and|then) (?:also )?(?:benchmarked|profiled|load-tested|timed)(?= (?:both|the|it|them|this|all|\uE000))|(?:habe|haben) .{0,40}(?:benchmarkt|gebenchmarkt)|benchmarks? (?:was|were) run)/u,
    by: /./,
  },
];

/** Words without which no statement names an operation. */
const operationWords =
  /ausgeführt|gelaufen|tag|branch|rama|deploy|rollout|rolled|appl|lancé|ejecut|\bran \uE000|executed|exécut|ausgerollt|déploy|despleg|install|benchmark|profiled|timed|étiquette|etiqueta/;

/** Decides the operations that a statement reports as done. */
export function checkOperations(
  statement: Statement,
  session: SessionActions,
  admits: () => boolean,
): ClaimVerdict | undefined {
  const { lower, code, lead, isItem } = statement;
  if (!operationWords.test(lower)) return undefined;
  const marked = code.reduce(
    (text, each) =>
      /^(?:terraform|tofu|pulumi|cdk)\s+(?:apply|up|deploy)\b/.test(each.text)
        ? `${text.slice(0, each.at)}\uE002${text.slice(each.at + 1).replace(/^\uE000+/, '')}`
        : text,
    lower,
  );
  const named = operations.filter(({ name, stems, claim }) => {
    const text = name === 'apply' ? marked : lower;
    return stems.some((stem) => text.includes(stem)) && claim.test(text);
  });
  if (named.length === 0) return undefined;
  if (hasOtherMeaning(statement, withoutDenied) || negative.test(withoutDenied(lower))) return undefined;
  const isOwn =
    isItem ||
    lead !== '' ||
    /(?<![\p{L}])(?:i|we|i['’]ve|we['’]ve|ich|j['’]ai|he|now|done|been|and|[\p{L}]+é)(?![\p{L}])|^(?:[\p{L}-]+ed|made|cut)\s/u.test(
      lower,
    );
  for (const { name, by } of named) {
    const commands = session.commands.filter((each) => by.test(each.command));
    const ran = commands.filter((each) => !each.wasDenied);
    if (name === 'deployment' && ran.length > 0) {
      const last = ran.at(-1);
      const own = ran.findLast((each) => /deploy|rollout|apply|upgrade/.test(each.command));
      if (!last || !own || own !== last || own.code === 0 || own.code === undefined || admits()) continue;
      if (findUnknown(session) !== undefined || own.hidesExit) continue;
      return decide(
        'contradicted',
        `${shorten(own.command)} ended with exit code ${own.code} (event ${own.seq}).`,
        eventEvidence(session, own, own.command),
      );
    }
    if (!isOwn || ran.some((each) => each.code === 0 || each.code === undefined)) continue;
    const calls = session.git.some((record) => record.outcome === 'ok');
    if (findUnknown(session) !== undefined || calls || session.hasReadHistory) continue;
    const other = session.commands.some((each) => !each.wasDenied && !by.test(each.command) && mayHide(each.command));
    if (other) continue;
    const failed = commands.at(-1);
    if (failed && admits()) continue;
    return failed
      ? decide(
          'contradicted',
          `${shorten(failed.command)} did not succeed (event ${failed.seq}).`,
          eventEvidence(session, failed, failed.command),
        )
      : decide('contradicted', `The log has no ${name}.`, summaryEvidence(session));
  }
  return undefined;
}

/** Programs that do one known thing. */
const plainTools = /^\s*(?:terraform|tofu|kubectl|helm|docker|firebase|vercel|netlify|curl|hugo|jekyll|busted)\s/;

/** Whether a command can have done an operation that its text does not name. */
function mayHide(command: string): boolean {
  const { mayDoAny, isUnknown } = classifyCommand(command);
  return (mayDoAny || isUnknown) && !plainTools.test(command);
}

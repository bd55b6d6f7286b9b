// Verifies an answer, or answers a question with verification, with the models and documents of the user.
import { statSync } from 'node:fs';
import path from 'node:path';
import {
  answerQuestion,
  createMeter,
  minSamples,
  scoreSupport,
  verifyAnswer,
  type AnswerReport,
  type Evidence,
  type VerificationReport,
  type VerifyAnswerOptions,
  type VerifyBudget,
  type VerifyModel,
  type VerifyProgress,
} from '../../checks/index.ts';
import { FairleadError, type Provider } from '../../core/index.ts';
import type { ModelHost } from '../models/open-model.ts';
import { lookUpModel, type ResolvedModel } from '../models/resolve-model.ts';
import { resolveModelUnattended } from '../models/start-model.ts';
import { assertLocalModel } from '../private-sessions.ts';
import type { Settings } from '../settings/index.ts';
import { acceptReport } from './accept-report.ts';
import { openDocuments, type Documents } from './documents.ts';
import { getVerifySettings, openJudges, openVerifyModel, withoutConsent } from './judges.ts';
import { createFileLookup } from './workspace-files.ts';

/** What is verified, and with what. */
export type VerificationRequest = {
  readonly settings: Settings;
  readonly host: ModelHost;
  readonly question?: string;
  /** The answer; without it the author answers the question. */
  readonly answer?: string;
  /** The file that the answer is from; it is not its own evidence. */
  readonly answerFile?: string;
  /** The author: the model that answers, or that wrote the answer. */
  readonly model?: string;
  /** A folder or file whose documents are the evidence. */
  readonly against?: string;
  /** A folder in which file paths of the answer are looked up, besides that of `against`. */
  readonly cwd?: string;
  /** More evidence. */
  readonly evidence?: readonly Evidence[];
  readonly judges?: readonly string[];
  readonly quorum?: number;
  readonly drafts?: number;
  readonly samples?: number;
  readonly chain?: boolean;
  /** Whether what other models remember may support claims although there are documents. */
  readonly independent?: boolean;
  readonly maxErrorRate?: number;
  readonly budget?: VerifyBudget;
  readonly isPrivate?: boolean;
  /** Whether a client named the models: that is not consent to a download. */
  readonly isRequested?: boolean;
  /** Wraps each model that is opened, such as with the budget of a tenant. */
  readonly wrapProvider?: (provider: Provider) => Provider;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: VerifyProgress) => void;
};

/** Runs a verification. */
export async function runVerification(request: VerificationRequest): Promise<VerificationReport | AnswerReport> {
  const { settings, against, answerFile, signal } = request;
  if (against === undefined) return verifyWith(request, undefined);
  const documents = await openDocuments({
    settings: request.isPrivate === true ? { ...settings, private: true } : settings,
    root: path.resolve(against),
    ...(answerFile === undefined ? {} : { exclude: answerFile }),
    ...(signal ? { signal } : {}),
  });
  try {
    return await verifyWith(request, documents);
  } finally {
    await documents.close();
  }
}

async function verifyWith(
  request: VerificationRequest,
  documents: Documents | undefined,
): Promise<VerificationReport | AnswerReport> {
  const { settings, host, question, answer } = request;
  const configured = getVerifySettings(settings);
  const isPrivate = request.isPrivate ?? settings.private;
  if (answer === undefined && question === undefined)
    throw new FairleadError('verify/nothing', 'There is neither a question nor an answer to verify.', {
      blame: 'user',
    });
  const author = await findAuthor(request);
  if (author && isPrivate) await assertLocalModel(author, settings);
  const judges = await openJudges(
    {
      settings,
      isPrivate,
      ...(request.isRequested === undefined ? {} : { isRequested: request.isRequested }),
      ...(author ? { author } : {}),
      ...(request.judges ? { names: request.judges } : {}),
    },
    host,
    request.wrapProvider,
  );
  const maxErrorRate = request.maxErrorRate ?? configured.maxErrorRate;
  const meter = createMeter(request.budget, request.signal);
  const independent = request.independent ?? configured.independent;
  const folders = [
    ...(request.against === undefined ? [] : [toFolder(request.against)]),
    ...(request.cwd === undefined ? [] : [request.cwd]),
  ];
  const shared = {
    judges,
    quorum: request.quorum ?? configured.quorum,
    ...(request.evidence ? { evidence: request.evidence } : {}),
    ...(documents
      ? {
          search: documents.search,
          refresh: documents.refresh,
          score: (claim: string, passage: string) => scoreSupport(claim, passage).probability,
        }
      : {}),
    ...(folders.length > 0 ? { fileExists: createFileLookup(folders) } : {}),
    ...(request.chain === undefined ? {} : { chain: request.chain }),
    ...(independent === undefined ? {} : { independent }),
    meter,
    ...(request.signal ? { signal: request.signal } : {}),
    ...(request.onProgress ? { onProgress: request.onProgress } : {}),
  } satisfies Partial<VerifyAnswerOptions>;
  const opened = author && (await openAuthor(author, request));
  const accept = <R extends VerificationReport | AnswerReport>(report: R): R | Promise<R> =>
    maxErrorRate === undefined
      ? report
      : acceptReport(report, {
          settings,
          maxErrorRate,
          ...(opened ? { author: opened } : {}),
          ...(question === undefined ? {} : { question }),
          meter,
        });
  if (answer !== undefined)
    return accept(
      await verifyAnswer({
        ...shared,
        answer,
        ...(question === undefined ? {} : { question }),
        ...(opened ? { author: opened } : {}),
      }),
    );
  if (!opened || question === undefined)
    throw new FairleadError('verify/no-author', 'There is no model to answer the question.', { blame: 'user' });
  return accept(
    await answerQuestion({
      ...shared,
      question,
      author: opened,
      drafts: request.drafts ?? 1,
      // A target error rate needs a confidence, and a confidence needs samples.
      samples: request.samples ?? (maxErrorRate === undefined ? 0 : minSamples),
    }),
  );
}

/** The folder itself, or that of a file. */
const toFolder = (root: string): string => (statSync(root).isDirectory() ? root : path.dirname(root));

/** The author of a given answer is known only if it is named; a question is answered by the model of a start. */
async function findAuthor({
  settings,
  model,
  answer,
  isRequested = false,
}: VerificationRequest): Promise<ResolvedModel | undefined> {
  if (answer !== undefined)
    return model === undefined
      ? undefined
      : withoutConsent(lookUpModel(model, settings) ?? throwUnknown(model), isRequested);
  const author = await resolveModelUnattended({ model, isRequested }, settings);
  if (author.router === undefined) return author;
  throw new FairleadError(
    'verify/router',
    'Verification needs one author, but a router selects among several models.',
    {
      blame: 'user',
      hint: 'Name one with --model.',
    },
  );
}

function throwUnknown(name: string): never {
  throw new FairleadError('verify/unknown-author', `There is no model "${name}".`, { blame: 'user' });
}

const openAuthor = (
  author: ResolvedModel,
  { settings, host, wrapProvider }: VerificationRequest,
): Promise<VerifyModel> => openVerifyModel(author, settings, host, wrapProvider);

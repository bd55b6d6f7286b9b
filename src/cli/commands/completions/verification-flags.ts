// The completions of the commands that index and search documents and verify answers.
import { createFlag, jsonFlag, toWords, type CompletionFlag } from './completion-flag.ts';
import type { CompletionPoint } from './completion-spec.ts';
import { storeFlag } from './fleet-flags.ts';

const modelFlag = createFlag('model', 'the model that answers', 'models');
const embeddingFlag = createFlag('embedding', 'the embedding model', 'anything');
const maxErrorFlag = createFlag('max-error', 'the target error rate, such as 5%', 'anything');
const samplesFlag = createFlag('samples', 'the number of samples', 'anything');

const claimFlags: readonly CompletionFlag[] = [
  createFlag('against', 'documents that decide', 'files'),
  modelFlag,
  createFlag('judges', 'models that judge', 'anything'),
  createFlag('quorum', 'model families that must agree', 'anything'),
  createFlag('independent', 'other models may also support a claim without a document'),
  maxErrorFlag,
  createFlag('max-requests', 'the budget in requests', 'anything'),
  createFlag('max-tokens', 'the budget in tokens', 'anything'),
  createFlag('max-budget-usd', 'the budget in dollars', 'anything'),
  createFlag('max-ms', 'the budget in milliseconds', 'anything'),
  createFlag('private', 'only models on your own machines'),
  createFlag('ephemeral', 'record no session'),
  createFlag('no-session', 'record no session'),
  jsonFlag,
];

const calibrationFlags: readonly CompletionFlag[] = [
  createFlag('half', 'one half of the questions', toWords(['first', 'second'])),
  jsonFlag,
  maxErrorFlag,
  modelFlag,
  createFlag('probability', 'the probability that the target holds', 'anything'),
  samplesFlag,
  createFlag('task', 'the kind of task', 'anything'),
];

/** The completions of `index`, `search`, `verify`, `verify-claims` and `verify-full`. */
export const verificationPoints: readonly CompletionPoint[] = [
  {
    name: 'index',
    flags: [
      embeddingFlag,
      createFlag('remove', 'delete the index', 'files'),
      createFlag('sessions', 'index your session logs'),
      storeFlag,
      jsonFlag,
    ],
    firstWord: 'files',
  },
  {
    name: 'search',
    flags: [
      createFlag('answer', 'let a model answer from the hits'),
      embeddingFlag,
      createFlag('folder', 'the folder or file to search', 'files'),
      createFlag('fusion', 'how both lists are combined', toWords(['rank', 'score'])),
      createFlag('limit', 'the number of hits', 'anything'),
      modelFlag,
      createFlag('no-update', 'do not index changed files first'),
      createFlag('queries', 'a file of queries', 'files'),
      createFlag('qrels', 'a file of judgements', 'files'),
      storeFlag,
      jsonFlag,
    ],
    firstWord: 'anything',
  },
  { name: 'verify', flags: calibrationFlags, firstWord: toWords(['calibrate', 'calibrations', 'measure']) },
  {
    name: 'redteam',
    flags: [
      createFlag('tools', 'the declarations of the tools', 'files'),
      createFlag('own', 'a value that identifies the user', 'anything'),
      createFlag('unattended', 'a question is a denial'),
      createFlag('vary', 'replace the injected texts, and compare the decisions'),
      modelFlag,
      createFlag('attacks', 'a file of attacks', 'files'),
      createFlag('kinds', 'only attacks of these kinds', 'anything'),
      createFlag('limit', 'at most so many attacks of each kind', 'anything'),
      createFlag('instructions', 'the system prompt of your agent', 'files'),
      createFlag('adaptive', 'attacks of an attacker that knows the flow policy'),
      createFlag('automatic', 'declare the tools by their names and schemas'),
      createFlag('threshold', 'the score above which a document is an alarm', 'anything'),
      createFlag('rate', 'the wanted share of false alarms', 'anything'),
      jsonFlag,
    ],
    firstWord: toWords(['run', 'suite', 'replay', 'detector']),
  },
  { name: 'dlp', flags: [createFlag('show', 'print the values too'), jsonFlag], firstWord: toWords(['scan']) },
  {
    name: 'verify-claims',
    flags: [createFlag('file', 'the answer to verify', 'files'), ...claimFlags],
    firstWord: 'anything',
  },
  {
    name: 'verify-full',
    flags: [createFlag('drafts', 'the number of drafts', 'anything'), samplesFlag, ...claimFlags],
    firstWord: 'anything',
  },
];

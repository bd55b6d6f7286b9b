// The tool read_quarantined: a model without tools reads a text of a third party, and the model that acts gets only values of a schema.
import type { AskedModel, JsonObject, ResolvedAgent, Tool, ToolContext } from '../../core/index.ts';

/** The name of the tool. */
export const readQuarantinedName = 'read_quarantined';

/** Options of readQuarantinedTool. */
export type ReadQuarantinedOptions = {
  /** Opens the model that reads; called for each read. */
  readonly openModel: (context: ToolContext) => AskedModel | Promise<AskedModel>;
  /** The agent whose gates decide about what is read, for the question before a read; without it a read that needs an approval fails. */
  readonly agent?: () => ResolvedAgent | undefined;
};

/** What a model asks. */
export type ReadQuarantinedInput = {
  readonly from: string;
  readonly question: string;
  readonly schema: JsonObject;
  readonly offset?: number;
};

const input: JsonObject = {
  type: 'object',
  properties: {
    from: { type: 'string', maxLength: 8000, description: 'A path, a URL, or the handle of a quarantined result.' },
    question: { type: 'string', minLength: 1, maxLength: 2000 },
    schema: {
      type: 'object',
      description:
        'The values by name, each {"type": "boolean" | "number" | "integer"}, {"enum": [...]}, {"type": "string", "format": "date"} or {"type": "string", "maxLength": 1 to 200}.',
    },
    offset: { type: 'integer', minimum: 0, description: 'Where to continue in a long text.' },
  },
  required: ['from', 'question', 'schema'],
  additionalProperties: false,
};

/** Creates the tool. Most runs do not use it: the rest is loaded for the first call. */
export const readQuarantinedTool = (options: ReadQuarantinedOptions): Tool => ({
  name: readQuarantinedName,
  description:
    'Get values from a text of a third party without reading it. A separate model reads the mail, page or file and returns only values of your schema.',
  effect: 'read',
  deferred: true,
  untrustedOutput: true,
  input,
  needsApproval: async (given, state) => {
    const { findReadQuestion } = await import('./run-read.ts');
    const agent = options.agent?.();
    return agent ? findReadQuestion(agent, given as ReadQuarantinedInput, state) : false;
  },
  execute: async (given, context) => {
    const { runRead } = await import('./run-read.ts');
    return runRead(given as ReadQuarantinedInput, context, options);
  },
});

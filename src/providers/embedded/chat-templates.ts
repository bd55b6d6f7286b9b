// The known chat templates, and their detection in the template of a model file.

/** The chat template: the markers before and after each kind of message. Text between them is never markup. */
export type ChatTemplate = {
  readonly system: readonly [before: string, after: string];
  readonly user: readonly [before: string, after: string];
  readonly assistant: readonly [before: string, after: string];
  /** What every answer starts with, such as an empty block of thoughts, which turns thinking off. */
  readonly answerStart?: string;
};

/** The name of a known chat template. */
export type ChatTemplateName = 'zephyr' | 'chatml' | 'llama3' | 'gemma';

/** The format of tool calls that a model was trained on: `hermes` is JSON between `<tool_call>` tags (Qwen, SmolLM and others). */
export type ToolFormat = 'hermes';

/** The known chat templates. */
export const chatTemplates: { readonly [name in ChatTemplateName]: ChatTemplate } = {
  zephyr: {
    system: ['<|system|>\n', '</s>\n'],
    user: ['<|user|>\n', '</s>\n'],
    assistant: ['<|assistant|>\n', '</s>\n'],
  },
  chatml: {
    system: ['<|im_start|>system\n', '<|im_end|>\n'],
    user: ['<|im_start|>user\n', '<|im_end|>\n'],
    assistant: ['<|im_start|>assistant\n', '<|im_end|>\n'],
  },
  llama3: {
    system: ['<|start_header_id|>system<|end_header_id|>\n\n', '<|eot_id|>'],
    user: ['<|start_header_id|>user<|end_header_id|>\n\n', '<|eot_id|>'],
    assistant: ['<|start_header_id|>assistant<|end_header_id|>\n\n', '<|eot_id|>'],
  },
  // Gemma has no system role: the instructions are a message of the user.
  gemma: {
    system: ['<start_of_turn>user\n', '<end_of_turn>\n'],
    user: ['<start_of_turn>user\n', '<end_of_turn>\n'],
    assistant: ['<start_of_turn>model\n', '<end_of_turn>\n'],
  },
};

const marks: readonly (readonly [name: ChatTemplateName, required: readonly string[]])[] = [
  ['chatml', ['<|im_start|>', '<|im_end|>']],
  ['llama3', ['<|start_header_id|>', '<|eot_id|>']],
  ['gemma', ['<start_of_turn>', '<end_of_turn>']],
  ['zephyr', ['<|user|>', '<|assistant|>', 'eos_token']],
];

/** What the program uses of the template of a model file. */
export type DetectedTemplate = { readonly template: ChatTemplate; readonly toolFormat?: ToolFormat };

/** Detects a known template in the template text of a model file (Jinja); undefined if it is none of them. */
export function detectTemplate(jinja: string): DetectedTemplate | undefined {
  const [name] = marks.find(([, required]) => required.every((mark) => jinja.includes(mark))) ?? [];
  // `<|end|>` instead of the end-of-text token is the template of Phi.
  if (name === undefined || (name === 'zephyr' && jinja.includes('<|end|>'))) return undefined;
  const thinks = /enable_thinking|assistant\\n<think>/.test(jinja);
  return {
    template: { ...chatTemplates[name], ...(thinks ? { answerStart: '<think>\n\n</think>\n\n' } : {}) },
    ...(name === 'chatml' && jinja.includes('<tool_call>') ? { toolFormat: 'hermes' } : {}),
  };
}

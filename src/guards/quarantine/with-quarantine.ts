// Keeps the results of a tool in quarantine: they are recorded, and the model that acts gets a handle and a size in place of the text.
import {
  copyTool,
  errorMessage,
  isToolOutput,
  toJson,
  toolOutput,
  type Tool,
  type ToolOutput,
} from '../../core/index.ts';
import { createHandle } from './create-handle.ts';

/** Returns the tool with its results, errors and images in quarantine. */
export function withQuarantine(tool: Tool): Tool {
  return copyTool(tool, {
    async execute(input, context) {
      const handle = createHandle(context.state, context.call.id);
      // Progress is shown to the user, and may hold text of the result.
      try {
        return hold(tool, handle, await tool.execute(input, context));
      } catch (error) {
        return hold(tool, handle, toolOutput({ text: `Error: ${errorMessage(error)}`, failed: true }));
      }
    },
    ...(tool.checkOutcome
      ? {
          async checkOutcome(input, context) {
            const found: unknown = await tool.checkOutcome?.(input, context);
            return found === undefined || found === false
              ? found
              : hold(tool, createHandle(context.state, context.call.id), found);
          },
        }
      : {}),
  });
}

function hold({ name }: Tool, handle: string, value: unknown): ToolOutput {
  const output: Partial<ToolOutput> = isToolOutput(value) ? value : {};
  const { failed, outcomeUnknown, labels, files = [], notes = [], loadsTools, endsRun, spent } = output;
  const text = output.text ?? (typeof value === 'string' ? value : JSON.stringify(toJson(value ?? null)));
  const withheld = [text, ...notes.map((note) => note.text)].join('\n');
  const images = files.length > 0 ? ` ${files.length} files of it were left out.` : '';
  return toolOutput({
    text: `${failed === true ? `${name} failed. Its message` : `The result of ${name}`} is in quarantine as ${handle} (${withheld.length} characters).${images} You cannot see the text. Ask for values of it with read_quarantined and "from": "${handle}".`,
    withheld,
    data: { quarantine: handle, tool: name, chars: withheld.length },
    ...(failed === undefined ? {} : { failed }),
    ...(outcomeUnknown === undefined ? {} : { outcomeUnknown }),
    ...(labels === undefined ? {} : { labels }),
    ...(loadsTools === undefined ? {} : { loadsTools }),
    ...(endsRun === undefined ? {} : { endsRun }),
    ...(spent === undefined ? {} : { spent }),
  });
}

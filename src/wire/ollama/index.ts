// Context windows, token counts and finish reasons of Ollama's API.
export { parseOllamaWindows, positiveInteger } from './show.ts';
export { ollamaFinishNames, parseOllamaFinish, parseOllamaUsage, writeOllamaUsage } from './usage.ts';

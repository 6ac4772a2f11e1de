// Gemini's generateContent, as Gemini CLI speaks it.
import { newId, pieces, textOf } from './text.mjs';

const USAGE = { promptTokenCount: 900, candidatesTokenCount: 30, totalTokenCount: 930 };

export const gemini = {
  isAt: ({ pathname }) => /:(generateContent|streamGenerateContent)$/.test(pathname),
  hear: (body) => ({
    entries: (body.contents ?? []).flatMap(({ role, parts = [] }) => parts.map((part) => entryOf(role, part))),
    tools: (body.tools ?? []).flatMap(({ functionDeclarations = [] }) => functionDeclarations.map(({ name }) => name)),
    schema: schemaOf(body.generationConfig ?? {}),
  }),
  isStreamed: (_body, { pathname }) => pathname.endsWith(':streamGenerateContent'),
  whole: (turn, _body, url) => answer(url, [...(turn.text ? [{ text: turn.text }] : []), ...callsOf(turn)], true),
  *stream(turn, _body, url) {
    for (const text of pieces(turn.text ?? '')) yield line(answer(url, [{ text }], false));
    const calls = callsOf(turn);
    yield line(answer(url, calls.length > 0 ? calls : [{ text: '' }], true));
  },
};

function entryOf(role, part) {
  if (role === 'model') return { who: 'model', text: part.text ?? '' };
  if (part.functionResponse) return { who: 'tool', text: JSON.stringify(part.functionResponse) };
  return { who: 'user', text: textOf([part]) };
}

function schemaOf({ responseJsonSchema, responseSchema, responseMimeType }) {
  return responseJsonSchema ?? responseSchema ?? (responseMimeType === 'application/json' ? {} : undefined);
}

function callsOf({ calls = [] }) {
  return calls.map(({ name, input = {} }) => ({ functionCall: { name, args: input } }));
}

function answer({ pathname }, parts, isLast) {
  const candidate = { content: { role: 'model', parts }, index: 0, ...(isLast ? { finishReason: 'STOP' } : {}) };
  const modelVersion = /models\/([^:]+)/.exec(pathname)?.[1];
  return { candidates: [candidate], usageMetadata: USAGE, modelVersion, responseId: newId('gem') };
}

function line(data) {
  return `data: ${JSON.stringify(data)}\r\n\r\n`;
}

import { describe, expect, it } from 'vitest'
import { answerAnthropic } from './anthropic/anthropic.ts'
import { contentBlock, contentBlocks } from './content-blocks.ts'
import { toModelOutput } from './model-output.ts'
import { answerOpenAI } from './openai/openai.ts'

const PNG = 'iVBORw0KGgo='
const IMAGE = { type: 'image', mimeType: 'image/png', data: PNG }
const PDF = { type: 'resource', resource: { uri: 'file:///a.pdf', mimeType: 'application/pdf', blob: 'JVBERi0=' } }

describe('the conversion of SDK content to blocks', () => {
  const cases: Array<[string, unknown, object]> = [
    ['a text', 'hi', { type: 'text', text: 'hi' }],
    ['Anthropic: text', { type: 'text', text: 'hi', citations: null }, { type: 'text', text: 'hi' }],
    ['Anthropic: an image', { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } }, IMAGE],
    [
      'Anthropic: an image elsewhere',
      { type: 'image', source: { type: 'url', url: 'https://a.example/b.png?c' } },
      { type: 'resource_link', uri: 'https://a.example/b.png?c', name: 'b.png' },
    ],
    [
      'Anthropic: a document of text',
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'hi' } },
      { type: 'text', text: 'hi' },
    ],
    ['OpenAI: text', { type: 'input_text', text: 'hi' }, { type: 'text', text: 'hi' }],
    ['OpenAI: an image', { type: 'input_image', image_url: `data:image/png;base64,${PNG}` }, IMAGE],
    ['Chat: an image', { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } }, IMAGE],
    [
      'Chat: audio',
      { type: 'input_audio', input_audio: { data: 'AAAA', format: 'mp3' } },
      { type: 'audio', mimeType: 'audio/mpeg', data: 'AAAA' },
    ],
    [
      'OpenAI: a file',
      { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' },
      PDF,
    ],
    ['the AI SDK: a file', { type: 'file', mediaType: 'image/png', data: { type: 'data', data: PNG } }, IMAGE],
    [
      'the AI SDK: a link',
      {
        type: 'file',
        mediaType: 'image/png',
        filename: 'b',
        data: { type: 'url', url: new URL('https://a.example/b') },
      },
      { type: 'resource_link', uri: 'https://a.example/b', name: 'b' },
    ],
    ['what nobody knows', { type: 'hologram', depth: 3 }, { type: 'hologram', depth: 3 }],
    ['MCP itself', { type: 'resource_link', uri: 'a:b', name: 'c' }, { type: 'resource_link', uri: 'a:b', name: 'c' }],
    ['no object', 7, { type: 'text', text: '7' }],
  ]
  it.each(cases)('%s', (_, part, block) => expect(contentBlock(part)).toEqual(block))
})

describe('a round trip of content blocks', () => {
  const content = [{ type: 'text', text: 'hi' }, IMAGE, PDF]
  const outcome = { status: 'ok' as const, content }
  const selection = { tools: [], deferred: [] }
  const completed = [{ call: { id: 'c', name: 'n', arguments: {}, source: {} }, outcome }]

  it('restores a result through Anthropic', () => {
    const [result] = answerAnthropic(selection, completed).content
    // A document has no name there.
    const named = JSON.parse(JSON.stringify(content).replace('a.pdf', 'file'))
    expect(contentBlocks(result?.content)).toEqual(named)
  })
  it('restores a result through OpenAI', () => {
    const [item] = answerOpenAI(selection, completed)
    expect(contentBlocks(item && 'output' in item ? item.output : undefined)).toEqual(content)
  })
  it('restores a result through the AI SDK', () => {
    const output = toModelOutput({ output: outcome })
    expect(contentBlocks(output.type === 'content' ? output.value : [])).toEqual(content)
  })
})

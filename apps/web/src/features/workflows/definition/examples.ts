/** Example workflows that need no server. */
import type { Definition } from './definition.ts'

export interface Example {
  id: string
  title: string
  text: string
  definition: Definition
}

export const EXAMPLES: readonly Example[] = [
  {
    id: 'approval',
    title: 'Ask before it goes on',
    text: 'A program prepares something, a person looks at it, another program goes on.',
    definition: {
      name: 'Ask before it goes on',
      description: 'Prepares a greeting, asks, and signs it.',
      input: {
        type: 'object',
        properties: { name: { type: 'string', description: 'Who is greeted', default: 'Ada' } },
        required: ['name'],
      },
      nodes: [
        {
          id: 'draft',
          type: 'code',
          program: 'return `Dear ${input.name}, welcome.`',
          input: { name: '{{ input.name }}' },
        },
        {
          id: 'ask',
          type: 'approval',
          message: 'Send “{{ nodes.draft.output }}”?',
          arguments: { text: '{{ nodes.draft.output }}' },
        },
        {
          id: 'sign',
          type: 'code',
          program: 'return { sent: `${input.text} Yours, the workflow.` }',
          input: { text: '{{ nodes.draft.output }}' },
          after: ['ask'],
        },
      ],
    },
  },
  {
    id: 'each',
    title: 'Something for each item',
    text: 'One node runs for every item of a list, a few at once; the results keep their order.',
    definition: {
      name: 'Something for each item',
      description: 'Counts the letters of each word.',
      input: {
        type: 'object',
        properties: { words: { type: 'array', items: { type: 'string' }, default: ['one', 'two', 'three'] } },
        required: ['words'],
      },
      nodes: [
        { id: 'each', type: 'map', over: 'input.words', node: 'count', as: 'word', concurrency: 2 },
        {
          id: 'count',
          type: 'code',
          program: 'return { word: input.word, letters: input.word.length }',
          input: { word: '{{ word }}' },
        },
      ],
      output: { counted: '{{ nodes.each.output }}' },
    },
  },
  {
    id: 'branch',
    title: 'One way or the other',
    text: 'A condition chooses which node runs; the other one is skipped.',
    definition: {
      name: 'One way or the other',
      input: {
        type: 'object',
        properties: { amount: { type: 'number', description: 'In euros', default: 120 } },
        required: ['amount'],
      },
      nodes: [
        { id: 'decide', type: 'branch', when: 'input.amount > 100', onTrue: ['large'], onFalse: ['small'] },
        { id: 'large', type: 'approval', message: 'Pay {{ input.amount }} euros?' },
        { id: 'small', type: 'code', program: 'return "Paid without asking."' },
      ],
    },
  },
]

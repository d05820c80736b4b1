import { describe, expect, it } from 'vitest'
import type { ElicitationRequest, ElicitationResult } from '../connections/connection.ts'
import { createEmitter } from '../events.ts'
import type { JsonObject } from '../schema/json.ts'
import { createInputs } from './elicitation.ts'

const who = { userId: 'ann', toolkit: 'kit', uscoId: 'usco_1' }
const form = (requestedSchema: JsonObject): ElicitationRequest => ({ mode: 'form', message: 'Who?', requestedSchema })
const PERSON = form({
  type: 'object',
  properties: {
    name: { type: 'string', minLength: 2 },
    mail: { type: 'string', format: 'email' },
    age: { type: 'integer', minimum: 0 },
    colour: { type: 'string', enum: ['red', 'green'], default: 'red' },
  },
  required: ['name', 'colour'],
})

function request(question: ElicitationRequest, { expireMs = 60_000 } = {}) {
  const inputs = createInputs(createEmitter(), { expireMs })
  const controller = new AbortController()
  const result = inputs.ask(who, question, controller.signal)
  const [input] = inputs.list('ann')
  return { inputs, result, id: input?.id ?? '', controller }
}

describe('an elicitation answer', () => {
  const bad: Record<string, [content: JsonObject | undefined, path: string]> = {
    'a field that is missing': [{}, 'content.name'],
    'no content at all': [undefined, 'content.name'],
    'a text that is too short': [{ name: 'A' }, 'content.name'],
    'a value of another type': [{ name: 'Ann', age: 'old' }, 'content.age'],
    'a value that is none of the choices': [{ name: 'Ann', colour: 'blue' }, 'content.colour'],
    'an address that is none': [{ name: 'Ann', mail: 'nowhere' }, 'content.mail'],
  }
  for (const [what, [content, path]] of Object.entries(bad))
    it(`with ${what} is rejected with its path and can be corrected`, async () => {
      const { inputs, result, id } = request(PERSON)
      const answer: ElicitationResult = { action: 'accept', ...(content ? { content } : {}) }
      let error: unknown
      try {
        inputs.answer('ann', id, answer)
      } catch (thrown) {
        error = thrown
      }
      expect(error).toMatchObject({ code: 'invalid-input', status: 422, errors: [{ path: path }] })
      expect(inputs.list('ann')).toHaveLength(1)
      inputs.answer('ann', id, { action: 'accept', content: { name: 'Ann', age: 7 } })
      expect(await result).toEqual({ action: 'accept', content: { name: 'Ann', age: 7, colour: 'red' } })
      expect(inputs.list('ann')).toEqual([])
    })

  it('needs no content when it declines or cancels', async () => {
    for (const action of ['decline', 'cancel'] as const) {
      const { inputs, result, id } = request(PERSON)
      inputs.answer('ann', id, { action })
      expect(await result).toEqual({ action })
    }
  })

  it('is not validated when the form schema is invalid', async () => {
    const { inputs, result, id } = request(form({ type: 'object', properties: { name: { type: 'nothing' } } }))
    inputs.answer('ann', id, { action: 'accept', content: { name: 'Ann' } })
    expect(await result).toEqual({ action: 'accept', content: { name: 'Ann' } })
  })

  it('to a URL request is sent without content', async () => {
    const { inputs, result, id } = request({ mode: 'url', message: 'Sign in', url: 'https://a.example' })
    inputs.answer('ann', id, { action: 'accept', content: { password: 'x' } })
    expect(await result).toEqual({ action: 'accept' })
  })
})

describe('an elicitation request', () => {
  it('is cancelled when its call is aborted and when it expires', async () => {
    const aborted = request(PERSON)
    aborted.controller.abort()
    expect(await aborted.result).toEqual({ action: 'cancel' })
    const late = request(PERSON, { expireMs: 10 })
    expect(await late.result).toEqual({ action: 'cancel' })
    expect([aborted.inputs.list('ann'), late.inputs.list('ann')]).toEqual([[], []])
  })
})

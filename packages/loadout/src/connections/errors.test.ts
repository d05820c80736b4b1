import {
  LOG_LEVEL_META_KEY,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  UrlElicitationRequiredError,
} from '@modelcontextprotocol/client'
import { expect, it } from 'vitest'
import { isProtocolError, sanitizeOutput, sanitizeText } from './errors.ts'
import { logLevelMeta } from './session/server-output.ts'

it('errors and keys of the SDK are recognised without loading it', () => {
  expect(isProtocolError(new ProtocolError(-32_601, 'no'))).toBe(true)
  expect(isProtocolError(new UrlElicitationRequiredError([]))).toBe(true)
  expect(isProtocolError(new SdkError(SdkErrorCode.NotConnected, 'no'))).toBe(false)
  expect(isProtocolError(new Error('no'))).toBe(false)
  expect(Object.keys(logLevelMeta())).toEqual([LOG_LEVEL_META_KEY])
})

const COLOURED = '\u001B[31mFatal:\u001B[0m no \u001B[1;4mkey\u001B[0m'

it('server messages are shown without terminal colors, on one line or line by line', () => {
  expect(sanitizeText(`${COLOURED}\nand more`)).toBe('Fatal: no key and more')
  expect(sanitizeOutput(`${COLOURED}\r\nand more`)).toBe('Fatal: no key\nand more')
})

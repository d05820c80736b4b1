/** Chat state of a thread. Stored messages replace the local ones whenever nothing streams. */

import { useChat } from '@ai-sdk/react'
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { DefaultChatTransport } from 'ai'
import { useEffect, useMemo, useRef } from 'react'
import { type Problem, ProblemError } from '../../../lib/api.ts'
import { BASE_PATH } from '../../../lib/base-path.ts'
import { messagesQuery } from '../queries.ts'
import { type ChatMessage, chatMessages, messageText } from './chat-message.ts'
import type { ChatOptions } from './chat-options.ts'

export function useThreadChat(threadId: string, options: ChatOptions) {
  const queryClient = useQueryClient()
  const history = useInfiniteQuery(messagesQuery(threadId))
  const latest = useRef(options)
  latest.current = options
  const transport = useMemo(() => transportOf(threadId, () => latest.current), [threadId])
  const chat = useChat<ChatMessage>({
    id: threadId,
    transport,
    experimental_throttle: 50,
    onData: ({ type }) => {
      if (type === 'data-approval') queryClient.invalidateQueries({ queryKey: ['approvals'] })
    },
    onFinish: async ({ isError, isAbort }) => {
      await queryClient.invalidateQueries({ queryKey: ['threads', threadId] })
      // A failed regeneration keeps the stored response.
      if (again.current && (isError || isAbort)) takeStored()
    },
  })
  const { status, setMessages } = chat
  const isBusy = status === 'submitted' || status === 'streaming'
  const busy = useRef(isBusy)
  busy.current = isBusy
  const { data } = history
  const again = useRef(false)
  const takeStored = () => {
    const stored = queryClient.getQueryData(messagesQuery(threadId).queryKey)
    if (stored && !busy.current) setMessages(chatMessages(stored.pages))
  }
  useEffect(() => {
    if (data && !busy.current) setMessages(chatMessages(data.pages))
  }, [data, setMessages])

  const say = (text: string) => {
    again.current = false
    chat.clearError()
    return chat.sendMessage({ text })
  }
  return {
    messages: chat.messages,
    isBusy,
    isWaiting: status === 'submitted',
    error: chat.error ? problemFrom(chat.error) : undefined,
    say,
    stop: chat.stop,
    /** Repeats the last prompt. */
    retry: () => {
      const at = chat.messages.findLastIndex(({ role }) => role === 'user')
      const lastPrompt = chat.messages[at]
      if (!lastPrompt) return
      const isStored = data?.pages.some(({ items }) => items.some(({ id }) => id === lastPrompt.id))
      if (!isStored && chat.error && problemFrom(chat.error) instanceof ProblemError) {
        // A refused message is not stored, so it is sent again.
        setMessages(chat.messages.slice(0, at))
        say(messageText(lastPrompt))
        return
      }
      again.current = true
      chat.clearError()
      chat.regenerate({ messageId: lastPrompt.id })
    },
    history,
  }
}

const transportOf = (threadId: string, options: () => ChatOptions) =>
  new DefaultChatTransport<ChatMessage>({
    api: `${BASE_PATH}/api/threads/${encodeURIComponent(threadId)}/messages`,
    prepareSendMessagesRequest: ({ messages, trigger, messageId }) => {
      // Sends only the new message, because the server has the history.
      return { body: { message: messageText(messages.at(-1) ?? { parts: [] }), trigger, messageId, ...options() } }
    },
  })

/** A refusal is a problem document as text; later failures are a line of the stream. */
export function problemFrom(error: Error): Error {
  try {
    const read: unknown = JSON.parse(error.message)
    if (typeof read === 'object' && read !== null && 'code' in read) return new ProblemError(read as Problem)
  } catch {
    // The message is plain text.
  }
  return error
}

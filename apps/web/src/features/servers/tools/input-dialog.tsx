import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { ExternalLink } from 'lucide-react'
import { useEffect, useState } from 'react'
import { answer, client, type Toolkit } from '../../../lib/api.ts'
import { ProblemNotice } from '../../../lib/problems.tsx'
import { Skeleton } from '../../../ui/data/skeleton.tsx'
import { Button } from '../../../ui/form/button.tsx'
import { Dialog, DialogContent, DialogFooter, DialogHeader } from '../../../ui/overlay/dialog.tsx'
import { SchemaForm } from '../../schema-form/schema-form.tsx'
import { type Question, questionsQuery } from '../queries.ts'

interface QuestionDialogProps {
  toolkit: Toolkit
  onClose: () => void
  onClosed: () => void
}

/** Input request of a server during a call. Escape keeps it open. */
export function QuestionDialog({ toolkit, onClose, onClosed }: QuestionDialogProps) {
  const { data: questions, error } = useQuery(questionsQuery())
  const question = questions?.find((item) => item.toolkit === toolkit.id)
  const isGone = questions !== undefined && question === undefined
  // The request was resolved elsewhere.
  useEffect(() => {
    if (isGone) onClose()
  }, [isGone, onClose])
  return (
    <Dialog open onOpenChange={(open) => !open && onClose()}>
      <DialogContent onClosed={onClosed}>
        <DialogHeader title={`${toolkit.name} asks you`} description="A call waits for your answer." />
        {error && <ProblemNotice error={error} />}
        {question ? (
          <QuestionForm key={question.id} question={question} onDone={onClose} />
        ) : (
          <Skeleton className="m-6 h-24" />
        )}
      </DialogContent>
    </Dialog>
  )
}

function QuestionForm({ question, onDone }: { question: Question; onDone: () => void }) {
  const queryClient = useQueryClient()
  const { message, requestedSchema, url } = question.question
  const [content, setContent] = useState<unknown>({})
  const [isReadable, setReadable] = useState(true)
  const reply = useMutation({
    mutationFn: (action: 'accept' | 'decline') =>
      answer(
        client.api.inputs[':id'].$post({
          param: { id: question.id },
          json: { action, ...(action === 'accept' && requestedSchema ? { content: Object(content) } : {}) },
        }),
      ),
    onSuccess: onDone,
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['inputs'] }),
  })
  const isLink = typeof url === 'string' && /^https?:/.test(url)
  return (
    <>
      <div className="grid min-h-0 flex-1 content-start gap-5 overflow-y-auto px-4 py-5 sm:px-6">
        {reply.error && <ProblemNotice error={reply.error} />}
        <p className="text-sm whitespace-pre-wrap wrap-anywhere">{String(message ?? '')}</p>
        {isLink && (
          <a
            href={url}
            target="_blank"
            rel="noreferrer"
            className="flex items-center gap-2 text-sm font-medium wrap-anywhere text-accent underline underline-offset-4"
          >
            <ExternalLink aria-hidden className="size-4 shrink-0" /> {url}
          </a>
        )}
        {requestedSchema !== undefined && (
          <SchemaForm
            label="Your answer"
            schema={requestedSchema}
            value={content}
            onChange={setContent}
            onReadable={setReadable}
          />
        )}
      </div>
      <DialogFooter>
        <Button onClick={() => reply.mutate('decline')}>Decline</Button>
        <Button
          variant="primary"
          aria-disabled={reply.isPending || !isReadable}
          onClick={() => !reply.isPending && isReadable && reply.mutate('accept')}
        >
          {reply.isPending ? 'Sending…' : isLink ? 'I have done it' : 'Send answer'}
        </Button>
      </DialogFooter>
    </>
  )
}

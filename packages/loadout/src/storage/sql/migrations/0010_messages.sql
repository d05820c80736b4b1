CREATE TABLE "mcp"."messages" (
	"message_id" text NOT NULL,
	"user_id" text NOT NULL,
	"thread_id" text NOT NULL,
	"position" integer NOT NULL,
	"role" text NOT NULL,
	"content_json" jsonb NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "messages_pkey" PRIMARY KEY("user_id","message_id"),
	CONSTRAINT "messages__user_id__thread_id__position" UNIQUE("user_id","thread_id","position")
);
--> statement-breakpoint
ALTER TABLE "mcp"."messages" ADD CONSTRAINT "messages_thread_fkey" FOREIGN KEY ("user_id","thread_id") REFERENCES "mcp"."threads"("user_id","thread_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "messages_thread" ON "mcp"."messages" USING btree ("user_id","thread_id","message_id");--> statement-breakpoint
SELECT mcp.protect('messages', 'write', false);

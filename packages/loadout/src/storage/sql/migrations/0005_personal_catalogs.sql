CREATE TABLE "mcp"."personal_catalogs" (
	"personal_catalog_id" text NOT NULL,
	"user_id" text NOT NULL,
	"usco_id" text NOT NULL,
	"tools_json" jsonb NOT NULL,
	"introspected_at" timestamp (3) with time zone NOT NULL,
	"record_at" timestamp (3) with time zone NOT NULL,
	"version" integer NOT NULL,
	CONSTRAINT "personal_catalogs_pkey" PRIMARY KEY("user_id","personal_catalog_id"),
	CONSTRAINT "personal_catalogs__user_id__usco_id" UNIQUE("user_id","usco_id")
);

--> statement-breakpoint
SELECT mcp.protect('personal_catalogs', 'write', false);
--> statement-breakpoint
SELECT mcp.tell('personal_catalogs', 'personalCatalogs', 'usco_id', 'user');

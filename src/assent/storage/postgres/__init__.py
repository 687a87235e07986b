"""The store on a PostgreSQL server: any number of processes on any number of machines, none of which must be alone."""

lab_headers(citor citor/thread_pool.h)
